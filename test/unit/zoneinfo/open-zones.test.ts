import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openZones } from '../../../src/zoneinfo/open-zones';
import { writeTzif } from '../../support/tzif';
import { createZoneFolder, type ZoneFolder } from '../../support/zone-folder';

const HOUR = 3_600;
const BERLIN = 'Europe/Berlin';

let zones: ZoneFolder;
beforeEach(() => {
  zones = createZoneFolder();
});
afterEach(() => {
  zones.remove();
});

const found = ({ data, origin }: ReturnType<ReturnType<ZoneFolder['open']>['find']>) => ({
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
      zones.writeSystem(system, { [BERLIN]: 'X-1'.replace('X', 'ONE') });
      zones.writePackage(ofPackage, BERLIN, 'TWO-2');
      const { find, origins, refused } = zones.open({ runtime });
      expect(found(find(BERLIN))).toMatchObject({ source, offset: hours && hours * HOUR });
      expect(find(BERLIN)).toBe(find(BERLIN));
      expect(origins[0]?.source).toBe(source);
      expect(origins).toHaveLength(3);
      expect(refused).toEqual([]);
    },
  );

  it('are those of files where the runtime does not tell its release', () => {
    zones.writeSystem('2020a', { [BERLIN]: 'ONE-1' });
    zones.writePackage('2019a', BERLIN, 'TWO-2');
    expect(zones.open({ runtime: 'unknown' }).find(BERLIN).origin.source).toBe('system');
  });

  it('take a zone that the newest files lack from the next', () => {
    zones.writeSystem('2026f', { 'Europe/Paris': 'ONE-1' });
    zones.writePackage('2026a', BERLIN, 'TWO-2');
    const { find, refused } = zones.open();
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
      zones.writeSystem(system, { 'America/Newville': 'ONE-1' });
      zones.writePackage(ofPackage, 'America/Newville', 'TWO-2');
      const { find, has, refused } = zones.open();
      expect(has('America/Newville')).toBe(true);
      expect(found(find('America/Newville'))).toMatchObject({ source, offset: hours * HOUR });
      for (const name of ['America/Nowhere', '../x']) expect(has(name)).toBe(false);
      expect(refused).toEqual([]);
    },
  );

  it('have none in a file that cannot be used, which is named', () => {
    zones.writeSystem('2026f');
    zones.writePackage('2026a', BERLIN, 'TWO-2');
    mkdirSync(join(zones.folder, 'America/Argentina'), { recursive: true });
    const file = zones.write('America/Oldtown', 'no zone\n'.repeat(20));
    const { has, refused } = zones.open();
    expect([has('America/Argentina'), has('America/Oldtown')]).toEqual([false, false]);
    expect(refused).toEqual([
      {
        file: join(zones.folder, 'America/Argentina'),
        reason: expect.stringContaining('it is not a plain file') as string,
      },
      { file, reason: expect.stringContaining('it is not a TZif file') as string },
    ]);
  });

  it.each(['another release', 'no file of it'])(
    'still have a zone in use when the system is renewed and has %s',
    (renewed) => {
      zones.writeSystem('2027a', { 'Europe/Newzone': 'ONE-1', 'Europe/Unread': 'ONE-1' });
      zones.writePackage('2026a', BERLIN, 'TWO-2');
      const { find, has } = zones.open();
      expect(find('Europe/Newzone').origin.source).toBe('system');
      if (renewed === 'another release') zones.writeSystem('2027b');
      else rmSync(join(zones.folder, 'Europe'), { recursive: true });
      expect([has('Europe/Newzone'), has('europe/NEWZONE'), has('Europe/Unread')]).toEqual([
        true,
        true,
        false,
      ]);
    },
  );

  it('are found by names in any letter case, and never outside their folder', () => {
    zones.writeSystem('2026f', { [BERLIN]: 'ONE-1', Outside: 'ONE-1' });
    zones.writePackage('2026a', BERLIN, 'TWO-2');
    const inner = join(zones.folder, 'Europe');
    zones.write('Europe/tzdata.zi', '# version 2027a\n');
    const { find: findAny } = zones.open();
    expect(found(findAny('europe/BERLIN'))).toMatchObject({ source: 'system' });
    expect(findAny('EUROPE/Berlin')).toBe(findAny(BERLIN));
    const { find, refused } = zones.open({ folder: inner });
    expect(find('../Outside').origin.source).toBe('runtime');
    expect(refused).toEqual([]);
  });

  it('are of the release that +VERSION names where there is no tzdata.zi', () => {
    zones.write('+VERSION', '2026e\n');
    zones.writePackage('2026a', BERLIN, 'TWO-2');
    expect(zones.open().origins[0]).toEqual({ source: 'system', release: '2026e' });
  });

  it('are without those of a system that names no release, with a word where the operator chose it', () => {
    zones.writePackage('2026a', BERLIN, 'TWO-2');
    const { origins, refused } = zones.open();
    expect(origins.map(({ source }) => source)).toEqual(['package', 'runtime']);
    expect(refused).toEqual([
      {
        file: zones.folder,
        reason: 'it names no release: expected a line "# version 2026f" in its tzdata.zi',
      },
    ]);
  });

  it('are without those of a system whose file of the release cannot be read, which is named, once', () => {
    const file = join(zones.folder, 'tzdata.zi');
    mkdirSync(file);
    zones.writePackage('2026a', BERLIN, 'TWO-2');
    const { origins, refused } = zones.open();
    expect(origins.map(({ source }) => source)).toEqual(['package', 'runtime']);
    const reason = expect.stringContaining('it is not a plain file') as string;
    expect(refused).toEqual([{ file, reason }]);
  });

  it('name the file of the release where it is what became unreadable', () => {
    zones.writeSystem('2026f', { [BERLIN]: 'ONE-1' });
    zones.writePackage('2026a', BERLIN, 'TWO-2');
    const { find, refused } = zones.open();
    const file = join(zones.folder, 'tzdata.zi');
    rmSync(file);
    mkdirSync(file);
    expect(find(BERLIN).origin.source).toBe('package');
    const reason = expect.stringContaining('it is not a plain file') as string;
    expect(refused).toEqual([{ file, reason }]);
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
      'a file of more than 1 MiB',
      (path: string) => {
        writeFileSync(path, Buffer.concat([writeTzif(), Buffer.alloc(1_048_577)]));
      },
      /^it has \d+ bytes: expected at most 1 MiB$/,
    ],
  ])('refuse %s, and the next source serves', (_, make, reason) => {
    zones.writeSystem('2026f');
    mkdirSync(join(zones.folder, 'Europe'));
    const file = join(zones.folder, BERLIN);
    make(file);
    zones.writePackage('2026a', BERLIN, 'TWO-2');
    const { find, refused } = zones.open();
    expect(found(find(BERLIN))).toMatchObject({ source: 'package', offset: 2 * HOUR });
    find(BERLIN);
    const text: unknown =
      typeof reason === 'string' ? expect.stringContaining(reason) : expect.stringMatching(reason);
    expect(refused).toEqual([{ file, reason: text }]);
  });

  it('are not mixed from two releases when the system is renewed under a process', () => {
    zones.writeSystem('2026f', { [BERLIN]: 'ONE-1', 'Europe/Paris': 'ONE-1' });
    zones.writePackage('2026a', 'Europe/Paris', 'TWO-2');
    const { find, refused } = zones.open();
    expect(find(BERLIN).origin.release).toBe('2026f');
    zones.writeSystem('2026g');
    expect(find('Europe/Paris').origin).toEqual({ source: 'package', release: '2026a' });
    expect(refused).toEqual([
      {
        file: join(zones.folder, 'Europe/Paris'),
        reason: 'its folder holds 2026g now: expected 2026f, or a restart',
      },
    ]);
  });

  it('are read when they are first found', () => {
    zones.writeSystem('2026f', { [BERLIN]: 'ONE-1' });
    zones.writePackage('2026a', BERLIN, 'TWO-2');
    const { find } = zones.open();
    zones.write(BERLIN, writeTzif({ footer: 'THREE-3' }));
    expect(found(find(BERLIN)).offset).toBe(3 * HOUR);
  });
});

it('the package brings newer zones than Node 20 has', () => {
  const opened = openZones({
    folder: zones.folder,
    runtimeRelease: '2025c',
    onRefused: () => undefined,
  });
  const { data, origin } = opened.find('America/Vancouver');
  expect(origin).toEqual({ source: 'package', release: '2026f' });
  // No more winter time from November 2026 on.
  expect([data?.offsets.at(-1), data?.yearly]).toEqual([-7 * HOUR, undefined]);
});
