import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { checkRules, type ReadRules } from '../../src/rule-sources/check/check-rules';
import { readSource } from '../../src/rule-sources/read-source';

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
      'warning: value_hash names the key 2, which the file of keys does not have: expected one of 1',
    );
    const { exitCode, lines } = await check('-key_file', join(directory, 'none'));
    expect([exitCode, lines]).toEqual([1, [expect.stringMatching(/^-key_file: /)]]);
  });

  it('prints every mistake of every file with its place', async () => {
    await write('b.yaml', 'domain: ""\ndescriptors:\n  - kye: k\n');
    await write('a.yaml', GOOD.replace('hour', 'fortnight'));
    await write('c.yaml', 'domain: [');
    expect(await check()).toEqual(
      refused(
        '4 mistakes',
        'DIR/a.yaml:4:24: unit "fortnight" is not one of second, minute, hour, day, week, month, year',
        'DIR/b.yaml:1:9: the file has no domain: expected domain: with a text that is not empty',
        'DIR/b.yaml:3:5: unknown key "kye" in a descriptor: did you mean "key"? known keys are key, value, rate_limit, descriptors, shadow_mode, quota_mode, detailed_metric, value_to_metric, share_threshold, metadata, on_store_error, hash_value, value_hash',
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

  it('calls a file that the service does not read a mistake', async () => {
    await write('a.yaml', GOOD);
    await write('limits', '[');
    expect(await check()).toEqual(
      refused('1 mistake', 'DIR/limits: not read: rename it to .yaml, or move it elsewhere'),
    );
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
      refused('1 mistake', 'DIR/a.yaml:1:12: these bytes are not UTF-8'),
    );
  });

  it('takes an empty directory with a warning, as the service does, and refuses one that is missing', async () => {
    expect(await check()).toEqual({
      exitCode: 0,
      lines: [
        'DIR: warning: no file in this directory or below it ends in .yaml or .yml: it is empty',
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
