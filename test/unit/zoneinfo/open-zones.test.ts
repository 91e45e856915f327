import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openZones, type RefusedZone } from '../../../src/zoneinfo/open-zones';
import { writeTzif } from '../../support/tzif';

const HOUR = 3_600;
const BERLIN = 'Europe/Berlin';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-zones-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

/** Zones of the system, of a release, each with one offset. */
function writeSystem(release: string, zones: Readonly<Record<string, string>> = {}) {
  write('tzdata.zi', `# version ${release}\n# and more\n`);
  for (const [name, footer] of Object.entries(zones)) write(name, writeTzif({ footer }));
}

/** As the package brings them, with one zone. */
function writePackage(release: string, name: string, footer: string): string {
  const zone = writeTzif({ footer });
  const index = `${name} 0 ${String(zone.length)}\n`;
  const head = `weir zones 1\nrelease ${release}\nindex ${String(index.length)}\n`;
  return write('zones.tzif', Buffer.concat([Buffer.from(head + index), zone]));
}

function open(
  options: { runtime?: string; packageFile?: string; folder?: string | undefined } = {},
) {
  const refused: RefusedZone[] = [];
  const zones = openZones({
    folder: 'folder' in options ? options.folder : folder,
    packageFile: options.packageFile ?? join(folder, 'zones.tzif'),
    runtimeRelease: options.runtime ?? '2025c',
    onRefused: (one) => refused.push(one),
  });
  return { ...zones, refused };
}

const found = ({ data, origin }: ReturnType<ReturnType<typeof open>['find']>) => ({
  ...origin,
  offset: data?.offsets.at(-1),
});

describe('the zones of a process', () => {
  it.each([
    ['2026f', '2026a', '2025c', 'system', 1],
    ['2026a', '2026f', '2025c', 'package', 2],
    ['2026a', '2026f', '2026f', 'runtime', undefined],
    ['2026f', '2026f', '2025c', 'package', 2],
    ['2026z', '2026za', '2026b', 'package', 2],
    ['2026f-dirty', '2026a', '2025c', 'system', 1],
  ])(
    'are the newest: system %s, package %s, runtime %s: %s',
    (system, ofPackage, runtime, source, hours) => {
      writeSystem(system, { [BERLIN]: 'X-1'.replace('X', 'ONE') });
      writePackage(ofPackage, BERLIN, 'TWO-2');
      const { find, origins, refused } = open({ runtime });
      expect(found(find(BERLIN))).toMatchObject({ source, offset: hours && hours * HOUR });
      expect(find(BERLIN)).toBe(find(BERLIN));
      expect(origins[0]?.source).toBe(source);
      expect(origins).toHaveLength(3);
      expect(refused).toEqual([]);
    },
  );

  it('are those of files where the runtime does not tell its release', () => {
    writeSystem('2020a', { [BERLIN]: 'ONE-1' });
    writePackage('2019a', BERLIN, 'TWO-2');
    expect(open({ runtime: 'unknown' }).find(BERLIN).origin.source).toBe('system');
  });

  it('take a zone that the newest files lack from the next', () => {
    writeSystem('2026f', { 'Europe/Paris': 'ONE-1' });
    writePackage('2026a', BERLIN, 'TWO-2');
    const { find, refused } = open();
    expect(found(find('Europe/Paris'))).toMatchObject({ source: 'system' });
    expect(found(find(BERLIN))).toMatchObject({ source: 'package', release: '2026a' });
    expect(found(find('Asia/Tokyo'))).toEqual({ source: 'runtime', release: '2025c' });
    expect(refused).toEqual([]);
  });

  it.each([
    ['newer', '2026f', '2026a', 'system', 1],
    ['older', '2024a', '2023a', 'system', 1],
    ['a newer one of the package', '2024a', '2026a', 'package', 2],
  ])(
    'has those that the runtime does not know in %s data: system %s, package %s',
    (_, system, ofPackage, source, hours) => {
      writeSystem(system, { 'America/Newville': 'ONE-1' });
      writePackage(ofPackage, 'America/Newville', 'TWO-2');
      const { find, has, refused } = open();
      expect(has('America/Newville')).toBe(true);
      expect(found(find('America/Newville'))).toMatchObject({ source, offset: hours * HOUR });
      mkdirSync(join(folder, 'America/Argentina'));
      write('America/Oldtown', 'no zone\n'.repeat(20));
      for (const name of ['America/Argentina', 'America/Oldtown', 'America/Nowhere', '../x'])
        expect(has(name)).toBe(false);
      expect(refused).toEqual([]);
    },
  );

  it('are found by names in any letter case, and never outside their folder', () => {
    writeSystem('2026f', { [BERLIN]: 'ONE-1', Outside: 'ONE-1' });
    writePackage('2026a', BERLIN, 'TWO-2');
    const inner = join(folder, 'Europe');
    write('Europe/tzdata.zi', '# version 2027a\n');
    const { find: findAny } = open();
    expect(found(findAny('europe/BERLIN'))).toMatchObject({ source: 'system' });
    expect(findAny('EUROPE/Berlin')).toBe(findAny(BERLIN));
    const { find, refused } = open({ folder: inner });
    expect(find('../Outside').origin.source).toBe('runtime');
    expect(refused).toEqual([]);
  });

  it('are of the release that +VERSION names where there is no tzdata.zi', () => {
    write('+VERSION', '2026e\n');
    writePackage('2026a', BERLIN, 'TWO-2');
    expect(open().origins[0]).toEqual({ source: 'system', release: '2026e' });
  });

  it('are without those of a system that names no release, with a word where the operator chose it', () => {
    writePackage('2026a', BERLIN, 'TWO-2');
    const { origins, refused } = open();
    expect(origins.map(({ source }) => source)).toEqual(['package', 'runtime']);
    expect(refused).toEqual([
      {
        file: folder,
        reason: 'it names no release: expected a line "# version 2026f" in its tzdata.zi',
      },
    ]);
  });

  it.each([
    [
      'a text',
      (path: string) => {
        writeFileSync(path, 'Europe/Berlin\n'.repeat(9));
      },
      'it is not a TZif file',
    ],
    [
      'a folder',
      (path: string) => {
        mkdirSync(path);
      },
      'it is not a plain file: expected one',
    ],
    [
      'a pipe',
      (path: string) => {
        execFileSync('mkfifo', [path]);
      },
      'it is not a plain file: expected one',
    ],
    [
      'a file of more than 1 MiB',
      (path: string) => {
        writeFileSync(path, Buffer.concat([writeTzif(), Buffer.alloc(1_048_577)]));
      },
      /^it has \d+ bytes: expected at most 1 MiB$/,
    ],
  ])('refuse %s, and the next source serves', (_, make, reason) => {
    writeSystem('2026f');
    mkdirSync(join(folder, 'Europe'));
    const file = join(folder, BERLIN);
    make(file);
    writePackage('2026a', BERLIN, 'TWO-2');
    const { find, refused } = open();
    expect(found(find(BERLIN))).toMatchObject({ source: 'package', offset: 2 * HOUR });
    find(BERLIN);
    const text: unknown =
      typeof reason === 'string' ? expect.stringContaining(reason) : expect.stringMatching(reason);
    expect(refused).toEqual([{ file, reason: text }]);
  });

  it('refuse a release file that is none, and a file of the package of another form', () => {
    execFileSync('mkfifo', [join(folder, 'tzdata.zi')]);
    const packageFile = write('zones.tzif', 'something else\n');
    const { find, refused } = open();
    expect(find(BERLIN)).toEqual({
      data: undefined,
      origin: { source: 'runtime', release: '2025c' },
    });
    expect(refused.map(({ file, reason }) => `${file}: ${reason}`)).toEqual([
      `${packageFile}: it has another form: expected that of this version`,
      `${folder}: it is not a plain file: expected one`,
      `${folder}: it names no release: expected a line "# version 2026f" in its tzdata.zi`,
    ]);
  });

  it('are not mixed from two releases when the system is renewed under a process', () => {
    writeSystem('2026f', { [BERLIN]: 'ONE-1', 'Europe/Paris': 'ONE-1' });
    writePackage('2026a', 'Europe/Paris', 'TWO-2');
    const { find, refused } = open();
    expect(find(BERLIN).origin.release).toBe('2026f');
    writeSystem('2026g');
    expect(find('Europe/Paris').origin).toEqual({ source: 'package', release: '2026a' });
    expect(refused).toEqual([
      {
        file: join(folder, 'Europe/Paris'),
        reason: 'its folder holds 2026g now: expected 2026f, or a restart',
      },
    ]);
  });

  it('are read when they are first found', () => {
    writeSystem('2026f', { [BERLIN]: 'ONE-1' });
    writePackage('2026a', BERLIN, 'TWO-2');
    const { find } = open();
    write(BERLIN, writeTzif({ footer: 'THREE-3' }));
    expect(found(find(BERLIN)).offset).toBe(3 * HOUR);
  });
});

it('the package brings newer zones than Node 20 has', () => {
  const zones = openZones({
    folder,
    runtimeRelease: '2025c',
    onRefused: () => undefined,
  });
  const { data, origin } = zones.find('America/Vancouver');
  expect(origin).toEqual({ source: 'package', release: '2026f' });
  // No more winter time from November 2026 on.
  expect([data?.offsets.at(-1), data?.yearly]).toEqual([-7 * HOUR, undefined]);
});
