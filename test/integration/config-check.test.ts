import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkRules, type ReadDirectory } from '../../src/config/check/check-rules';
import { readRuleFiles } from '../../src/config/directory/read-rule-files';
import { surveyDirectory } from '../../src/config/directory/survey';

const GOOD =
  'domain: x\ndescriptors:\n  - key: k\n    rate_limit: {unit: hour, requests_per_unit: 1}\n';
const OTHER = GOOD.replace('key: k', 'key: other');

const readDirectory: ReadDirectory = async (root) => {
  const place = { root, subdirectory: '', appDirectory: '', ignoreDotFiles: false };
  return readRuleFiles(await surveyDirectory(place), 1_000_000);
};

describe('the rule checker', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'weir-check-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const write = (name: string, content: string | Uint8Array) =>
    writeFile(join(directory, name), content);
  const check = async (...more: string[]) => {
    const outcome = await checkRules(['-config_dir', directory, ...more], readDirectory);
    expect(outcome.errorLines).toEqual([]);
    const lines = outcome.lines.map((line) => line.replaceAll(directory, 'DIR'));
    return { exitCode: outcome.exitCode, lines };
  };
  const refused = (what: string, ...lines: unknown[]) => {
    const advice = `${what}: the service would not take this; correct it and check again`;
    return { exitCode: 1, lines: [...lines, advice] };
  };

  it('counts what it read when all is well', async () => {
    await write('a.yaml', GOOD);
    expect(await check()).toEqual({ exitCode: 0, lines: ['1 domain, 1 limit: OK'] });
    await write('b.yaml', 'domain: y');
    expect(await check()).toEqual({ exitCode: 0, lines: ['2 domains, 1 limit: OK'] });
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
        'DIR/b.yaml:3:5: unknown key "kye" in a descriptor: did you mean "key"? known keys are key, value, rate_limit, descriptors, shadow_mode, quota_mode, detailed_metric, value_to_metric, share_threshold, metadata, on_store_error',
        expect.stringMatching(/^DIR\/c\.yaml:1:10: not valid YAML: /),
      ),
    );
  });

  it('marks warnings and takes the rules all the same', async () => {
    await write('a.yaml', GOOD.replace('key: k', 'key: k*'));
    await write('passed-over.yml', '[');
    expect(await check()).toEqual({
      exitCode: 0,
      lines: [
        'DIR/passed-over.yml: warning: this file is not read: expected a name in .yaml',
        'DIR/a.yaml:3:10: warning: a * in a key is an ordinary character, no wildcard: found the key "k*"',
        '1 domain, 1 limit: OK',
      ],
    });
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
    await write('target', OTHER.replace('domain: x', 'domain: y'));
    await symlink('target', join(directory, 'link.yaml'));
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

  it('refuses a directory without rule files, and one that is none', async () => {
    const empty = await check();
    expect(empty).toEqual(refused('no rules', expect.stringMatching(/^DIR: warning: no file/)));
    const missing = join(directory, 'missing');
    const { exitCode, lines } = await checkRules(['-config_dir', missing], readDirectory);
    expect(exitCode).toBe(1);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^.*missing: .*cannot be read: it does not exist \(ENOENT\)$/);
  });

  it('explains itself', async () => {
    const help = await checkRules(['--help'], readDirectory);
    expect(help).toMatchObject({ exitCode: 0, errorLines: [] });
    expect(help.lines[0]).toContain('usage: ratelimit-config-check -config_dir DIR');
    const mistake = await checkRules(['-verbose'], readDirectory);
    expect(mistake).toMatchObject({ exitCode: 1, lines: [] });
    expect(mistake.errorLines).toEqual(['unknown argument "-verbose"', '', help.lines[0]]);
  });
});
