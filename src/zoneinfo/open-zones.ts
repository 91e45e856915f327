import { isTimeZone } from '../core/windows/time-zone';
import type { FoundZone, ZoneLookup, ZoneOrigin } from '../core/windows/zone-data';
import { toReason } from '../platform/errors';
import { PACKAGE_FILE, packageZones } from './package-zones';
import { type ZoneFiles, FileError, byRelease, toRelease, readPart } from './zone-files';
import { join } from 'node:path';
import { parseTzif } from './parse-tzif';

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

/** The service's zones, for a command; nothing is read before first use. */
export function zonesOfTool({ env, stderr }: Pick<NodeJS.Process, 'env' | 'stderr'>): ZoneLookup {
  let zones: ZoneLookup | undefined;
  const opened = (): ZoneLookup =>
    (zones ??= openZones({
      folder: env['TZDIR'] === '' ? undefined : env['TZDIR'],
      onRefused({ file, reason }) {
        stderr.write(`warning: the time zone file ${file} cannot be used: ${reason}\n`);
      },
    }));
  return {
    find: (timeZone) => opened().find(timeZone),
    has: (timeZone) => opened().has(timeZone),
  };
}

/** The zones' folder on Unix systems, unless TZDIR is set. */
const SYSTEM_FOLDER = '/usr/share/zoneinfo';

/** Files with the release: the first nearly everywhere, the second on macOS. */
const RELEASE_FILES = [
  { file: 'tzdata.zi', form: /^# version (\S+)/ },
  { file: '+VERSION', form: /^(\S+)/ },
];
const RELEASE_BYTES = 64;

/** No dots: a name never leads out of the folder. */
const NAME = /^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/;

/** The zones of the system, a TZif file each. */
export function systemZones(folder: string): ZoneFiles {
  const release = readRelease(folder);
  return {
    source: 'system',
    release,
    fileOf: (name) => join(folder, name),
    read(name) {
      const bytes = NAME.test(name) ? readPart(join(folder, name)) : undefined;
      if (bytes === undefined) return undefined;
      const now = readRelease(folder);
      if (now !== release)
        throw new Error(
          `its folder holds ${now ?? 'no release'} now: expected ${String(release)}, or a restart`,
        );
      return parseTzif(bytes);
    },
  };
}

function readRelease(folder: string): string | undefined {
  for (const { file, form } of RELEASE_FILES) {
    const text = readPart(join(folder, file), { length: RELEASE_BYTES })?.toString('latin1');
    const release = toRelease(form.exec(text ?? '')?.[1]);
    if (release !== undefined) return release;
  }
  return undefined;
}
