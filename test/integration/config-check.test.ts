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

  describe('overlays', () => {
    const OVERLAYS = `overlays:
  - {domain: "*", path: ["*"], rate_limit: {algorithm: gcra}, descriptor: {on_store_error: deny}}
  - {domain: y, path: ["*"], rate_limit: {burst: 3}}
`;
    const run = async (...args: string[]) => {
      const { lines, exitCode } = await checkRules(args, readRules);
      return [
        ...lines.map((line) => line.replaceAll(directory, 'DIR')),
        `ends with ${String(exitCode)}`,
      ];
    };
    const overlays = () => join(directory, 'overlays.yaml');
    const descriptors = [
      { key: 'k', rateLimit: { unit: 'HOUR', requestsPerUnit: 1 } },
      { key: 'l', rateLimit: { unit: 'YEAR', requestsPerUnit: 1 }, descriptors: [{ key: 'm' }] },
    ];

    beforeEach(() => write('overlays.yaml', OVERLAYS));

    it('are checked alone', async () => {
      expect(await run('-overlays', overlays())).toEqual(['2 overlays: OK', 'ends with 0']);
      expect(await run('-overlays', directory)).toEqual(['2 overlays: OK', 'ends with 0']);
      await write('overlays.yaml', 'overlays: [{domain: x}]\n');
      const advice = 'correct what is listed and check again';
      expect(await run('-overlays', overlays())).toEqual([
        'DIR/overlays.yaml:1:12: path is missing: expected a list of 1 to 64 steps, each "*" or a map with key and value',
        'DIR/overlays.yaml:1:12: an overlay gives nothing: expected rate_limit or descriptor with fields',
        `2 mistakes: ${advice}`,
        'ends with 1',
      ]);
      expect(await run('-overlays', join(directory, 'none.yaml'))).toEqual([
        'DIR/none.yaml: RULE_OVERLAYS cannot be read: it does not exist (ENOENT)',
        `1 mistake: ${advice}`,
        'ends with 1',
      ]);
    });

    const LINES = [
      'DIR/overlays.yaml:3:5: warning: this overlay matches no rule: expected a rule of its domain with its path',
      '2 overlays: OK',
      'overlays.yaml:2 gives algorithm, on_store_error to 2 rules',
      '1 domain, 2 limits: OK',
      'ends with 0',
    ];

    it('are tried on a dump of a management server', async () => {
      const type = 'type.googleapis.com/ratelimit.config.ratelimit.v3.RateLimitConfig';
      const resource = { '@type': type, name: 'c', domain: 'x', descriptors };
      await write('dump.json', JSON.stringify({ resources: [resource] }));
      const dump = join(directory, 'dump.json');
      const warning =
        'warning: no limit here or below: requests that match the key "m" are not limited';
      expect(await run('-overlays', overlays(), '-xds', dump)).toEqual([
        `c: descriptors[1].descriptors[0]: ${warning}`,
        ...LINES,
      ]);
      const question = ['-explain', '-domain', 'x', '-descriptors', 'k=v'];
      expect((await run('-overlays', overlays(), '-xds', dump, ...question)).join('\n')).toContain(
        'algorithm, on_store_error by the overlay at overlays.yaml:2',
      );
      await write('dump.json', '{}');
      expect(await run('-xds', dump)).toEqual([
        'DIR/dump.json: expected a DiscoveryResponse, its bytes or JSON: the JSON has no list "resources"',
        '1 mistake: correct what is listed and check again',
        'ends with 1',
      ]);
    });

    it('are tried on the rules of a file', async () => {
      const limit = (unit: string) => `{unit: ${unit}, requests_per_unit: 1}`;
      const [hour, year] = [limit('hour'), limit('year')];
      await write(
        'rules.yaml',
        `domain: x\ndescriptors: [{key: k, rate_limit: ${hour}}, {key: l, rate_limit: ${year}}]\n`,
      );
      expect(await run('-overlays', overlays(), join(directory, 'rules.yaml'))).toEqual(LINES);
    });
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
