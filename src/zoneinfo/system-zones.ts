import { join } from 'node:path';
import { parseTzif } from './parse-tzif';
import { readPart } from './read-file';
import { toRelease } from './release';
import type { ZoneFiles } from './zone-files';

/** The zones' folder on Unix systems, unless TZDIR is set. */
export const SYSTEM_FOLDER = '/usr/share/zoneinfo';

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
