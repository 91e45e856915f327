import { isTimeZone } from '../core/windows/time-zone';
import type { FoundZone, ZoneLookup, ZoneOrigin } from '../core/windows/zone-data';
import { toReason } from '../platform/errors';
import { PACKAGE_FILE, packageZones } from './package-zones';
import { FileError } from './read-file';
import { byRelease, toRelease } from './release';
import { SYSTEM_FOLDER, systemZones } from './system-zones';
import type { ZoneFiles } from './zone-files';

export interface ZonesOptions {
  /** TZDIR; undefined: the usual folder of systems. */
  readonly folder?: string | undefined;
  /** The file of the package, where it is another one. */
  readonly packageFile?: string | undefined;
  /** The release of the runtime's data; default: as Node reports it. */
  readonly runtimeRelease?: string | undefined;
  readonly onRefused: (refusal: RefusedZone) => void;
}

/** An unusable file; the next source serves instead. */
export interface RefusedZone {
  readonly file: string;
  /** Its mistake, and what was expected. */
  readonly reason: string;
}

/** The zones of this process. */
export interface Zones extends ZoneLookup {
  /** The newest first. */
  readonly origins: readonly ZoneOrigin[];
}

/** Chooses between the runtime's data, the files of the system and those of the package; a zone is read on first use. */
export function openZones(options: ZonesOptions): Zones {
  const { folder = SYSTEM_FOLDER, packageFile, onRefused } = options;
  const { runtimeRelease = process.versions['tz'] } = options;
  const orRefuse = <T>(file: string, read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      onRefused({
        file: error instanceof FileError ? error.file : file,
        reason: toReason(error),
      });
      return undefined;
    }
  };
  const ofPackage = orRefuse(packageFile ?? PACKAGE_FILE, () => packageZones(packageFile));
  const ofSystem = orRefuse(folder, () => systemZones(folder));
  if (ofSystem !== undefined && ofSystem.release === undefined && options.folder !== undefined)
    onRefused({ file: folder, reason: NO_RELEASE });
  const runtime: ZoneOrigin = { source: 'runtime', release: toRelease(runtimeRelease) };
  const files = [ofPackage, ofSystem].filter((one) => one?.release !== undefined) as ZoneFiles[];
  // The runtime precedes other sources of an equal release; an unknown release counts as the oldest.
  const sources = [runtime, ...files].sort(byRelease);
  const all = files.sort(byRelease);
  const newer = all.filter((one) => byRelease(one, runtime) < 0);
  const nameOf = (timeZone: string): string => ofPackage?.nameOf?.(timeZone) ?? timeZone;

  const look = (timeZone: string): FoundZone => {
    const name = nameOf(timeZone);
    // Older data serve a zone that the runtime does not know.
    const serving = newer.length === all.length || isTimeZone(timeZone) ? newer : all;
    for (const { source, release, fileOf, read } of serving) {
      const data = orRefuse(fileOf(name), () => read(name));
      if (data !== undefined) return { data, origin: { source, release } };
    }
    return { data: undefined, origin: runtime };
  };
  const known = new Map<string, FoundZone>();
  return {
    find(timeZone) {
      // However rules write it: there are no more entries than zones.
      const key = timeZone.toLowerCase();
      const found = known.get(key) ?? look(timeZone);
      known.set(key, found);
      return found;
    },
    has(timeZone) {
      const name = nameOf(timeZone);
      const hasOne = ({ fileOf, read }: ZoneFiles) =>
        orRefuse(fileOf(name), () => read(name)) !== undefined;
      // A zone in use stays one when the system is renewed.
      return known.get(timeZone.toLowerCase())?.data !== undefined || all.some(hasOne);
    },
    origins: sources.map(({ source, release }) => ({ source, release })),
  };
}

const NO_RELEASE = 'it names no release: expected a line "# version 2026f" in its tzdata.zi';
