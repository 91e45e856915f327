import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { checkRules, type ReadRules } from '../../src/rule-sources/check/check-rules';
import { readSource } from '../../src/rule-sources/read-source';
import { RULES } from '../support/budget-words';

const GOOD =
  'domain: x\ndescriptors:\n  - key: k\n    rate_limit: {unit: hour, requests_per_unit: 1}\n';
const OTHER = GOOD.replace('key: k', 'key: other');

const readRules: ReadRules = (source) => readSource(source, Readable.from([]));

describe('the rule checker', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'weir-check-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const write = (name: string, content: string | Uint8Array) =>
    writeFile(join(directory, name), content);
  const check = async (...more: string[]) => {
    const outcome = await checkRules(['-config_dir', directory, ...more], readRules);
    expect(outcome.errorLines).toEqual([]);
    const lines = outcome.lines.map((line) => line.replaceAll(directory, 'DIR'));
    return { exitCode: outcome.exitCode, lines };
  };
  const refused = (what: string, ...lines: unknown[]) => {
    const advice = `${what}: correct what is listed and check again`;
    return { exitCode: 1, lines: [...lines, advice] };
  };

  it('counts what it read when all is well', async () => {
    await write('a.yaml', GOOD);
    expect(await check()).toEqual({ exitCode: 0, lines: ['1 domain, 1 limit: OK'] });
    await write('b.yaml', 'domain: y');
    expect(await check()).toEqual({ exitCode: 0, lines: ['2 domains, 1 limit: OK'] });
  });

  it('checks with a file of keys that value_hash names one of them', async () => {
    await write('a.yaml', `domain: x\ndescriptors: [{key: k, value_hash: h2-${'0'.repeat(32)}}]\n`);
    await write('.keys', `1 ${Buffer.alloc(32).toString('base64')}`);
    expect(await check()).toEqual({ exitCode: 0, lines: [expect.stringContaining('0 limits')] });
    expect((await check('-key_file', join(directory, '.keys'))).lines[0]).toContain(
      'warning: value_hash names the key 2, which is not in the file of keys: expected one of 1',
    );
    const { exitCode, lines } = await check('-key_file', join(directory, 'none'));
    expect([exitCode, lines]).toEqual([1, [expect.stringMatching(/^-key_file: /)]]);
  });

  it('says where each word of budgets stands that a store cannot count', async () => {
    for (const [path, text] of Object.entries(RULES)) await write(basename(path), text);
    const advice =
      'cannot be counted in memcached; expected BACKEND_TYPE=kvstore or memory, or a rate_limit alone';
    expect(await check('-backend', 'memstore')).toEqual(
      refused(
        '5 mistakes',
        `DIR/llm.yaml:5:7: rate_limits ${advice}`,
        `DIR/llm.yaml:8:17: reserve ${advice}`,
        `DIR/llm.yaml:11:17: algorithm: in_flight ${advice}`,
        `DIR/llm.yaml:13:17: block ${advice}`,
        `DIR/shop.yaml:2:9: charge: together ${advice.replace('a rate_limit alone', 'charge: apart')}`,
      ),
    );
    for (const backend of ['kvstore', 'memory'])
      expect(await check('-backend', backend)).toMatchObject({ exitCode: 0 });
  });

  it('prints every mistake of every file with its place', async () => {
    await write('b.yaml', 'domain: ""\ndescriptors:\n  - kye: k\n');
    await write('a.yaml', GOOD.replace('hour', 'fortnight'));
    await write('c.yaml', 'domain: [');
    expect(await check()).toEqual(
      refused(
        '4 mistakes',
        'DIR/a.yaml:4:24: unit "fortnight" is not one of second, minute, hour, day, week, month, year',
        'DIR/b.yaml:1:9: the file has no domain: expected domain: with a non-empty string',
        'DIR/b.yaml:3:5: unknown key "kye" in a descriptor: did you mean "key"? known keys are key, value, rate_limit, rate_limits, reserve, block, descriptors, shadow_mode, quota_mode, detailed_metric, value_to_metric, share_threshold, metadata, on_store_error, hash_value, value_hash',
        expect.stringMatching(/^DIR\/c\.yaml:1:10: not valid YAML: /),
      ),
    );
  });

  it('marks warnings, takes the rules all the same, and refuses them when it is strict', async () => {
    await write('a.yaml', GOOD.replace('key: k', 'key: k*'));
    const message = 'a * in a key is an ordinary character, not a wildcard: found the key "k*"';
    expect(await check()).toEqual({
      exitCode: 0,
      lines: [`DIR/a.yaml:3:10: warning: ${message}`, '1 domain, 1 limit: OK'],
    });
    expect(await check('-strict')).toEqual(refused('1 mistake', `DIR/a.yaml:3:10: ${message}`));
  });

  describe('domains whose fixed windows can meet in one counter key', () => {
    const limitOf = (domain: string, entry: string, more = '') =>
      `domain: ${domain}\ndescriptors:\n  - ${entry}\n    rate_limit: {unit: hour, requests_per_unit: 1${more}}\n`;
    const meeting = (first: string, second: string, place: string) =>
      `DIR/0.yaml:4:17: warning: domains "${first}" and "${second}" can count under the same key, this limit and that of "${second}" ${place}: expected a domain and keys that cannot be joined into the same text`;

    it.each([
      ['keys that read the same', 'key: b_c', 'key: c'],
      ['any value', 'key: b', 'key: c'],
      ['a wildcard', 'key: b\n    value: "c_x*"', 'key: c\n    value: x'],
      ['fixed values', 'key: b\n    value: c_x', 'key: c\n    value: x'],
    ])('warns of them once, with both places: %s', async (_, entry, other) => {
      const text = limitOf('a', entry);
      await write('0.yaml', text);
      await write(
        '1.yaml',
        `${limitOf('a_b', other)}  - key: c_d\n    rate_limit: {unit: day, requests_per_unit: 1}\n`,
      );
      const { exitCode, lines } = await check();
      const at = entry.includes('value') ? '5:17' : '4:17';
      const line = other.includes('value') ? 5 : 4;
      expect(lines).toEqual([
        meeting('a', 'a_b', `on line ${String(line)} of 1.yaml`).replace('4:17', at),
        '2 domains, 3 limits: OK',
      ]);
      expect(exitCode).toBe(0);
      expect((await check('-strict')).exitCode).toBe(1);
    });

    it.each([
      ['their keys differ', 'key: c', 'key: c', ''],
      [
        'one fixed value only begins with the other',
        'key: b\n    value: c',
        'key: c\n    value: x',
        '',
      ],
      ['they count by gcra', 'key: b', 'key: c', ', algorithm: gcra'],
      ['they count by the calendar', 'key: b', 'key: c', ', unit_multiplier: 1, calendar: true'],
    ])('says nothing where %s', async (_, entry, other, more) => {
      const day = (text: string) =>
        more.includes('calendar') ? text.replace('hour', 'day') : text;
      await write('0.yaml', day(limitOf('a', entry, more)));
      await write('1.yaml', day(limitOf('a_b', other, more)));
      expect((await check()).lines).toEqual(['2 domains, 2 limits: OK']);
    });

    it('lists twenty pairs and counts the others', async () => {
      await write('0.yaml', limitOf('a', 'key: b'));
      for (let at = 1; at <= 23; at += 1)
        await write(`${String(at)}.yaml`, limitOf(`a_b_${String(at)}x`, 'key: c\n    value: v'));
      const { lines } = await check();
      expect(lines).toHaveLength(22);
      expect(lines[0]).toBe(meeting('a', 'a_b_10x', 'on line 5 of 10.yaml'));
      expect(lines.slice(20)).toEqual([
        'DIR: warning: 3 more pairs of domains can count under the same keys',
        '24 domains, 24 limits: OK',
      ]);
    });

    it('finds them among 2,000 limits of 100 domains', async () => {
      for (let at = 0; at < 100; at += 1) {
        const entries = Array.from(
          { length: 20 },
          (_, key) =>
            `  - key: k${String(key)}\n    rate_limit: {unit: hour, requests_per_unit: 1}\n`,
        );
        await write(
          `${String(at)}.yaml`,
          `domain: d${String(at)}x\ndescriptors:\n${entries.join('')}`,
        );
      }
      await write('z.yaml', limitOf('d7x_k5', 'key: other'));
      const { lines } = await check();
      expect(lines).toHaveLength(2);
      expect(lines[0]).toContain('domains "d7x" and "d7x_k5" can count under the same key');
    });
  });

  it('calls a file that the service does not read a mistake', async () => {
    await write('a.yaml', GOOD);
    await write('limits.yaml~', '[');
    expect(await check()).toEqual(
      refused('1 mistake', 'DIR/limits.yaml~: not read: rename it to .yaml, or move it elsewhere'),
    );
  });

  it('reads files of any name, as the service does', async () => {
    await write('limits', GOOD);
    await write('others.txt', '[');
    const { lines } = await check();
    expect(lines[0]).toMatch(/^DIR\/others\.txt:1:2: /);
    await write('others.txt', GOOD.replace('domain: x', 'domain: y'));
    expect(await check()).toEqual({ exitCode: 0, lines: ['2 domains, 2 limits: OK'] });
  });

  it('reads .yml files and subdirectories, and hidden directories never', async () => {
    await mkdir(join(directory, 'team'));
    await mkdir(join(directory, '..data'));
    await write('a.yaml', GOOD);
    await write('..data/a.yaml', GOOD);
    await write('b.yml', GOOD.replace('domain: x', 'domain: y'));
    await write('team/c.yaml', GOOD.replace('domain: x', 'domain: z').replace('hour', 'hours'));
    expect(await check()).toEqual(
      refused(
        '1 mistake',
        'DIR/team/c.yaml:4:24: unit "hours" is not one of second, minute, hour, day, week, month, year; did you mean "hour"?',
      ),
    );
  });

  it('checks one file, and the standard input', async () => {
    const path = join(directory, 'rules');
    await write('rules', GOOD);
    expect(await checkRules([path], readRules)).toMatchObject({
      exitCode: 0,
      lines: ['1 domain, 1 limit: OK'],
    });
    const input = Readable.from([Buffer.from(GOOD.replace('hour', 'hours'))]);
    const { exitCode, lines } = await checkRules(['-'], (source) => readSource(source, input));
    expect(exitCode).toBe(1);
    expect(lines[0]).toMatch(/^<standard input>:4:24: unit "hours" is not one of /);
  });

  it('takes one domain in two files only when asked to', async () => {
    await write('a.yaml', GOOD);
    await write('b.yaml', OTHER);
    expect(await check()).toEqual(
      refused(
        '1 mistake',
        'DIR/b.yaml:1:9: domain "x" is already defined in a.yaml, line 1; expected one file for a domain, or MERGE_DOMAIN_CONFIG=true',
      ),
    );
    expect(await check('-merge_domain_configs')).toEqual({
      exitCode: 0,
      lines: ['1 domain, 2 limits: OK'],
    });
  });

  it('reads dot files and linked files', async () => {
    await write('.hidden.yaml', GOOD);
    await write('.target', OTHER.replace('domain: x', 'domain: y'));
    await symlink('.target', join(directory, 'link.yaml'));
    expect(await check()).toEqual({ exitCode: 0, lines: ['2 domains, 2 limits: OK'] });
  });

  it('says which file cannot be read', async () => {
    await write('a.yaml', GOOD);
    await symlink('nowhere', join(directory, 'link.yaml'));
    const { exitCode, lines } = await check();
    expect(exitCode).toBe(1);
    expect(lines[0]).toMatch(/^DIR\/link\.yaml: the file cannot be read: .*ENOENT/);
  });

  it('refuses bytes that are no text', async () => {
    await write('a.yaml', Buffer.from('domain: café', 'latin1'));
    expect(await check()).toEqual(
      refused('1 mistake', 'DIR/a.yaml:1:12: the file is not valid UTF-8 from here on'),
    );
  });

  it('takes an empty directory with a warning, as the service does, and refuses one that is missing', async () => {
    expect(await check()).toEqual({
      exitCode: 0,
      lines: [
        'DIR: warning: no rule file is in this directory or below it: it is empty',
        '0 domains, 0 limits: OK',
      ],
    });
    const missing = join(directory, 'missing');
    const { exitCode, lines } = await checkRules(['-config_dir', missing], readRules);
    expect(exitCode).toBe(1);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^.*missing: .*cannot be read: it does not exist \(ENOENT\)$/);
  });

  it('explains itself', async () => {
    const help = await checkRules(['--help'], readRules);
    expect(help).toMatchObject({ exitCode: 0, errorLines: [] });
    expect(help.lines[0]).toContain('usage: ratelimit-config-check ');
    const mistake = await checkRules(['-verbose'], readRules);
    expect(mistake).toMatchObject({ exitCode: 1, lines: [] });
    expect(mistake.errorLines).toEqual(['unknown argument "-verbose"', '', help.lines[0]]);
  });
});
