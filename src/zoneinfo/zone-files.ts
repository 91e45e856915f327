import type { ZoneData, ZoneOrigin } from '../core/windows/zone-data';

/** Zones in files. Reading throws an error that says what was expected. */
export interface ZoneFiles extends ZoneOrigin {
  /** The file of a zone. */
  readonly fileOf: (name: string) => string;
  /** Undefined: it has no zone with this name. */
  readonly read: (name: string) => ZoneData | undefined;
  /** All of its zones; undefined: unknown. */
  readonly names?: () => readonly string[];
  /** The name in its own case, for one in any case; undefined: it has none. */
  readonly nameOf?: (name: string) => string | undefined;
}
