import { join } from 'node:path';
import { folderWith } from '../platform/package';
import { parseTzif } from './parse-tzif';
import { type ZoneFiles, readPart, toRelease } from './zone-files';

/** Written by `node scripts/write-zoneinfo.mjs`. */
export const PACKAGE_FILE = 'zoneinfo/zones.tzif';

/** The head of the file: its format, its release, and the length of the index that follows. */
const HEAD = /^weir zones 1\nrelease (\S+)\nindex (\d+)\n/;
const HEAD_BYTES = 64;

interface Place {
  readonly name: string;
  readonly from: number;
  readonly length: number;
}

/** The TZif files of the package, concatenated in one file. Its index is read on first use. */
export function packageZones(path = join(folderWith(PACKAGE_FILE), PACKAGE_FILE)): ZoneFiles {
  const { release, indexFrom, indexLength } = readHead(path);
  let places: ReadonlyMap<string, Place> | undefined;
  const index = (): ReadonlyMap<string, Place> =>
    (places ??= readIndex(path, { from: indexFrom, length: indexLength }));
  return {
    source: 'package',
    release: toRelease(release),
    fileOf: () => path,
    names: () => [...index().values()].map(({ name }) => name),
    nameOf: (name) => index().get(name.toLowerCase())?.name,
    read(name) {
      const place = index().get(name.toLowerCase());
      const bytes = place && readPart(path, place);
      return bytes && parseTzif(bytes);
    },
  };
}

function readHead(path: string) {
  const head = readPart(path, { length: HEAD_BYTES })?.toString('latin1') ?? '';
  const found = HEAD.exec(head);
  if (found === null) throw new Error('it has another form: expected that of this version');
  const [{ length: indexFrom }, release, indexLength] = found;
  return { release, indexFrom, indexLength: Number(indexLength) };
}

/** Keyed by names in lower case: rules may use any case. */
function readIndex(path: string, part: { from: number; length: number }) {
  const lines = readPart(path, part)?.toString('latin1').trimEnd().split('\n') ?? [];
  const start = part.from + part.length;
  return new Map(
    lines.map((line) => {
      const [name = '', from = '', length = ''] = line.split(' ');
      const place = { name, from: start + Number(from), length: Number(length) };
      return [name.toLowerCase(), place];
    }),
  );
}
