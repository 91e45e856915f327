import type { ZoneData, ZoneOrigin } from '../core/windows/zone-data';

/** Zones in files. What reads throws an error that says what was expected. */
export interface ZoneFiles extends ZoneOrigin {
  /** Where a zone is read from. */
  readonly fileOf: (name: string) => string;
  /** Undefined: it has no zone of this name. */
  readonly read: (name: string) => ZoneData | undefined;
  /** All that it has; undefined: it cannot tell. */
  readonly names?: () => readonly string[];
  /** The name as it is written, for one in any letter case; undefined: it has none. */
  readonly nameOf?: (name: string) => string | undefined;
}
