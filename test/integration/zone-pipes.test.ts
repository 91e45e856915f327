import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createZoneFolder, type ZoneFolder } from '../support/zone-folder';

const BERLIN = 'Europe/Berlin';

let zones: ZoneFolder;
beforeEach(() => {
  zones = createZoneFolder();
});
afterEach(() => {
  zones.remove();
});

it('a zone that is a pipe is refused without a wait for its writer, and the next source serves', () => {
  zones.writeSystem('2026f');
  mkdirSync(join(zones.folder, 'Europe'));
  const file = join(zones.folder, BERLIN);
  execFileSync('mkfifo', [file]);
  zones.writePackage('2026a', BERLIN, 'TWO-2');
  const { find, refused } = zones.open();
  const { data, origin } = find(BERLIN);
  expect([origin.source, data?.offsets.at(-1)]).toEqual(['package', 7_200]);
  find(BERLIN);
  const reason: unknown = expect.stringContaining('it is not a plain file: expected one');
  expect(refused).toEqual([{ file, reason }]);
});

it('a release file that is a pipe is refused, and a file of the package of another form', () => {
  execFileSync('mkfifo', [join(zones.folder, 'tzdata.zi')]);
  const packageFile = zones.write('zones.tzif', 'something else\n');
  const { find, refused } = zones.open();
  expect(find(BERLIN)).toEqual({
    data: undefined,
    origin: { source: 'runtime', release: '2025c' },
  });
  expect(refused.map(({ file, reason }) => `${file}: ${reason}`)).toEqual([
    `${packageFile}: it has another form: expected that of this version`,
    `${zones.folder}/tzdata.zi: it is not a plain file: expected one`,
  ]);
});
