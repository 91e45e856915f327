import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { checkRules, type ReadRules } from '../../src/rule-sources/check/check-rules';
import { readSource } from '../../src/rule-sources/read-source';
import { RULES } from '../support/budget-words';
import { readTable } from '../support/text-table';

const GOOD =
  'domain: x\ndescriptors:\n  - key: k\n    rate_limit: {unit: hour, requests_per_unit: 1}\n';

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

  /** `> NAME` begins a file, `> NAME -> TARGET` is a link. */
  async function writeAll(files: string): Promise<void> {
    for (const file of files.split(/^> /m).slice(1)) {
      const [head = '', ...lines] = file.split('\n');
      const [name = '', target] = head.split(' -> ');
      const path = join(directory, name);
      await mkdir(dirname(path), { recursive: true });
      await (target === undefined ? writeFile(path, lines.join('\n')) : symlink(target, path));
    }
  }

  const TABLE = readTable(readFileSync(join(__dirname, 'config-check.txt'), 'utf8'));

  it.each(TABLE)('says of $title', async ({ given, options, expected }) => {
    await writeAll(given);
    const { args = '' } = options as { readonly args?: string };
    const words = args.replaceAll('DIR', directory).split(' ');
    const { lines, exitCode } = await check(...words.filter((word) => word !== ''));
    expect([...lines, `ends with ${String(exitCode)}`]).toEqual(expected);
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

  describe('domains whose fixed windows can meet in one counter key', () => {
    const limitOf = (domain: string, entry: string, more = '') =>
      `domain: ${domain}\ndescriptors:\n  - ${entry}\n    rate_limit: {unit: hour, requests_per_unit: 1${more}}\n`;
    const meeting = (first: string, second: string, place: string) =>
      `DIR/0.yaml:4:17: warning: domains "${first}" and "${second}" can count under the same key, this limit and that of "${second}" ${place}: expected a domain and keys that cannot be joined into the same text`;

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
