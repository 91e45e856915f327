import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subscription } from 'rxjs';
import { DEFAULT_REQUEST_BOUNDS } from '../../src/core/decision/request';
import { problemText } from '../../src/fields/problem';
import { systemClock } from '../../src/platform/clock';
import type { CheckSet } from '../../src/request-maps/check';
import { followCheckFiles } from '../../src/rule-sources/check-files';
import { checkRules } from '../../src/rule-sources/check/check-rules';
import type { LoadResult } from '../../src/rule-sources/load-result';
import { eventually } from '../support/edge/eventually';

const check = (domain: string) =>
  `domain: ${domain}\ndescriptors: [{ entries: [{ key: user, header: x-user }] }]\n`;

let folder = '';
let following: Subscription | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-checks-'));
});
afterEach(() => {
  following?.unsubscribe();
  rmSync(folder, { recursive: true });
});

function follow(path: string) {
  const loads: LoadResult<CheckSet>[] = [];
  const warn = (message: string) => {
    throw new Error(message);
  };
  following = followCheckFiles(path, DEFAULT_REQUEST_BOUNDS, {
    clock: systemClock,
    warn,
  }).subscribe((load) => loads.push(load));
  const last = () => {
    const load = loads.at(-1);
    if (load === undefined) throw new Error('nothing was loaded yet');
    return load.ok
      ? [...load.rules.checks].map(([name, { domain }]) => `${name}: ${domain}`)
      : load.problems.map(problemText);
  };
  return (expected: readonly unknown[]) =>
    eventually(() => {
      expect(last()).toEqual(expected);
    });
}

it('follows a file, through its mistakes, a new one in its place and its end', async () => {
  const file = join(folder, 'check.yaml');
  writeFileSync(file, check('a'));
  const expectLast = follow(file);
  await expectLast([': a']);
  writeFileSync(file, `${check('b')}retry: 1\n`);
  await expectLast([expect.stringMatching(/^check\.yaml:3:1: unknown key "retry" in a check/)]);
  writeFileSync(file, check('b'));
  await expectLast([': b']);
  writeFileSync(join(folder, 'next'), check('c'));
  renameSync(join(folder, 'next'), file);
  await expectLast([': c']);
  rmSync(file);
  await expectLast([
    expect.stringMatching(
      /check\.yaml: CHECK_CONFIG cannot be read: it does not exist \(ENOENT\)$/,
    ),
  ]);
});

it('follows a file of a ConfigMap, which is a link that is swapped', async () => {
  for (const version of ['1', '2']) {
    mkdirSync(join(folder, version));
    writeFileSync(join(folder, version, 'check.conf'), check(`v${version}`));
  }
  symlinkSync('1', join(folder, '..data'));
  symlinkSync('..data/check.conf', join(folder, 'check.conf'));
  const expectLast = follow(join(folder, 'check.conf'));
  await expectLast([': v1']);
  symlinkSync('2', join(folder, '..next'));
  renameSync(join(folder, '..next'), join(folder, '..data'));
  await expectLast([': v2']);
});

it('follows a directory, whose files name the checks', async () => {
  mkdirSync(join(folder, 'teams'));
  writeFileSync(join(folder, 'shop.yaml'), check('a'));
  writeFileSync(join(folder, 'teams/b.yml'), check('b'));
  const expectLast = follow(folder);
  await expectLast(['shop: a', 'teams/b: b']);
  writeFileSync(join(folder, 'shop.yml'), check('c'));
  await expectLast([
    'shop.yml: another file defines the check "shop" too: expected only one of .yaml and .yml',
  ]);
  rmSync(join(folder, 'shop.yaml'));
  await expectLast(['shop: c', 'teams/b: b']);
});

it('refuses files that would keep the service from deciding while it reads them', async () => {
  const file = join(folder, 'check.yaml');
  writeFileSync(file, `${check('a')}#${' '.repeat(200_000)}`);
  await follow(file)([
    expect.stringMatching(/^check\.yaml: the file holds 200\d+ bytes: expected at/),
  ]);
});

describe('ratelimit-config-check -check_config', () => {
  const readNothing = () => Promise.resolve({ files: [], problems: [] });
  const run = (...args: string[]) => checkRules(args, readNothing);

  it('lists what is wrong with a file, and says that one is fine', async () => {
    const file = join(folder, 'check.yaml');
    writeFileSync(file, check('a'));
    expect(await run('-check_config', file)).toEqual({
      exitCode: 0,
      lines: ['1 check: OK'],
      errorLines: [],
    });
    writeFileSync(file, 'domain: shop\nproxy: caddy\n');
    const { exitCode, lines } = await run('-check_config', file);
    expect(exitCode).toBe(1);
    expect(lines).toEqual([
      `${file}:1:1: descriptors must be a list of maps; it is missing`,
      `${file}:1:1: trusted_proxies must be a list of the addresses or networks of the proxy, such as 10.0.0.0/8`,
      '2 mistakes: correct what is listed and check again',
    ]);
  });

  it('checks a directory beside rules, and names what cannot be read', async () => {
    writeFileSync(join(folder, 'shop.yaml'), 'domain: shop\n');
    const beside = await run('-check_config', folder, '-');
    expect(beside.lines).toEqual([
      expect.stringContaining(`${join(folder, 'shop.yaml')}:1:1: descriptors must be`),
      '1 mistake: correct what is listed and check again',
    ]);
    const missing = await run('-check_config', join(folder, 'none.yaml'));
    expect(missing.lines[0]).toBe(
      `${join(folder, 'none.yaml')}: CHECK_CONFIG cannot be read: it does not exist (ENOENT)`,
    );
  });

  it.each([
    [['-check_config', ''], '-check_config needs a file or a directory'],
    [['-explain', '-check_config', 'x'], '-explain needs -domain, -descriptors and rules'],
  ])('refuses %j', async (args, message) => {
    expect((await run(...args)).errorLines[0]).toBe(message);
  });
});
