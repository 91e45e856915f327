import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { problemsOf, type Schema } from '../../support/json-schema';
import { simulate } from '../../../src/simulate/simulate';

const RULES = (limit: number, more = '') => `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: minute, requests_per_unit: ${String(limit)} }
  - key: trial
    shadow_mode: true
    rate_limit: { unit: minute, requests_per_unit: 1 }
  - key: open
    rate_limit: { unlimited: true }
${more}`;

const START = Date.parse('2026-11-22T14:00:00Z');

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-simulate-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function directory(name: string, rules: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  writeFileSync(join(path, 'shop.yaml'), rules);
  return path;
}

function line(second: number, ...descriptors: string[]): string {
  const time = new Date(START + second * 1_000).toISOString();
  const parsed = descriptors.map((text) => text.split(',').map((entry) => entry.split('=')));
  return JSON.stringify({ time, domain: 'shop', descriptors: parsed });
}

const BUDGETS = `domain: llm
charge: together
descriptors:
  - key: user
    rate_limits:
      - { unit: minute, requests_per_unit: 100 }
      - { algorithm: in_flight, requests_per_unit: 2 }
    reserve: { lease: 20s }
  - key: guest
    rate_limit: { unit: minute, requests_per_unit: 1, block: { for: 1h } }
`;

/** One descriptor with hits of its own, if any. */
function spent(second: number, text: string, hitsAddend?: number): string {
  const time = new Date(START + second * 1_000).toISOString();
  const entries = text.split(',').map((entry) => entry.split('='));
  return JSON.stringify({ time, domain: 'llm', descriptors: [{ entries, hitsAddend }] });
}

const inLlm = (text: string) => text.replace('"shop"', '"llm"');

async function run(log: readonly string[], args: readonly string[]) {
  const text = { stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr') => ({
    write: (piece: string) => (text[name] += piece),
  });
  const stdin = Readable.from([Buffer.from(log.join('\n'))]);
  const streams = { stdin, stdout: sink('stdout'), stderr: sink('stderr') };
  const code = await simulate(['-input', '-', ...args], streams);
  return { code, ...text };
}

interface Said {
  readonly rules: unknown;
  readonly mostLimited: unknown;
  readonly mostLimitedOthers?: number;
  readonly unmatched: unknown;
  readonly comparison: unknown;
}

async function report(log: readonly string[], args: readonly string[]) {
  const { code, stdout, stderr } = await run(log, [...args, '-report', 'json']);
  if (stderr !== '') throw new Error(stderr);
  return { code, ...(JSON.parse(stdout) as Said) };
}

/** Ann asks twelve times in a minute, Bob once, somebody under no rule. */
const LOG = [
  ...Array.from({ length: 12 }, (_, at) => line(at, 'user=ann')),
  line(13, 'user=bob', 'trial=x', 'open=x'),
  line(14, 'trial=x'),
  line(15, 'ip=1', 'ip=2'),
];

describe('ratelimit-simulate', () => {
  it('replays several limits, reservations of which the log has the ids, blocks and what is charged together', async () => {
    const rules = directory('budgets', BUDGETS);
    const log = [
      spent(0, 'user=ann,reserve=a', 40),
      spent(1, 'user=bob,reserve=b', 60),
      spent(2, 'user=ann,reserve=c', 70),
      spent(3, 'user=ann,settle=a', 90),
      spent(4, 'user=ann', 20),
      spent(5, 'user=bob,settle=b'),
      spent(6, 'user=ann,settle=x', 5),
      // The lease of this one is over before the next call.
      spent(7, 'user=bob,reserve=d', 10),
      spent(30, 'user=bob', 31),
      ...[31, 32, 33].map((second) => line(second, 'guest=eve')),
      JSON.stringify({
        ...{ time: new Date(START + 40_000).toISOString(), domain: 'llm' },
        descriptors: [[['user', 'new']], [['guest', 'eve']]],
      }),
      spent(41, 'user=new', 100),
    ];
    const said = await report(log.map(inLlm), ['-config_dir', rules]);
    expect(said.rules).toMatchObject([
      {
        rule: 'llm.user',
        ...{ requests: 8, hits: 332, over: 3, distinctKeys: 3 },
        limits: [
          { name: 'minute', over: 121 },
          { name: 'in_flight', over: 0 },
        ],
        budget: { reserved: 110, settled: 150, lapsed: 10, settledUnknown: 1, blocks: 0 },
      },
      { rule: 'llm.guest', requests: 4, over: 3, budget: { blocks: 1, blocked: 2 } },
    ]);
    expect(said.mostLimited).toEqual([
      { key: 'llm_guest_eve', rule: 'llm.guest', refused: 3 },
      { key: 'llm_user_ann', rule: 'llm.user', refused: 2 },
      { key: 'llm_user_bob', rule: 'llm.user', refused: 1 },
    ]);
    const text = await run(log.map(inLlm), ['-config_dir', rules]);
    expect(text.stdout).toContain('hits refused: 121 by minute, 0 by in_flight\n');
    expect(text.stdout).toContain(
      '110 hits held, 150 charged when they were settled, 10 by the end of a lease, 1 settled that were not open\n',
    );
    expect(text.stdout).toContain('1 blocks, which refused 2 hits\n');
    const decisions = join(folder, 'budgets.jsonl');
    await run(log.map(inLlm), ['-config_dir', rules, '-decisions', decisions]);
    const recorded = readFileSync(decisions, 'utf8');
    expect(await report(recorded.trim().split('\n'), ['-config_dir', rules])).toEqual(said);
  });

  it('says what rules would have refused, and which limit would have been enough', async () => {
    const rules = directory('rules', RULES(10));
    const { code, ...said } = await report(LOG, ['-config_dir', rules]);
    expect(code).toBe(0);
    expect(said).toMatchObject({ requests: 15, refused: 2 });
    expect(said.rules).toEqual([
      {
        rule: 'shop.user',
        limit: '10 per minute',
        shadowMode: false,
        ...{ requests: 13, hits: 13, over: 2, shadow: 0, near: 2, distinctKeys: 2, keysLimited: 1 },
        firstLimited: '2026-11-22T14:00:10.000Z',
        lastLimited: '2026-11-22T14:00:11.000Z',
        use: { p50: 10, p95: 120, p99: 120, max: 120 },
        smallestLimit: { onePercent: 12, onePerMille: 12, none: 12 },
      },
      expect.objectContaining({ rule: 'shop.trial', requests: 2, over: 0, shadow: 1 }),
      expect.objectContaining({ rule: 'shop.open', limit: 'unlimited', requests: 1, over: 0 }),
    ]);
    expect(said.mostLimited).toEqual([{ key: 'shop_user_ann', rule: 'shop.user', refused: 2 }]);
    expect(said.unmatched).toEqual([
      {
        ...{ domain: 'shop', keys: 'ip', requests: 2, reason: 'no_entry_for_key' },
        hint: expect.stringContaining('user') as string,
      },
    ]);
  });

  it('reads its own decision log: the recorded decisions come out again', async () => {
    const rules = directory('rules', RULES(10));
    const decisions = join(folder, 'decisions.jsonl');
    await run(LOG, ['-config_dir', rules, '-decisions', decisions]);
    const recorded = readFileSync(decisions, 'utf8');
    expect(recorded.split('\n')[11]).toBe(
      '{"time":"2026-11-22T14:00:11.000Z","domain":"shop","descriptors":[[["user","ann"]]],"hits":[1],' +
        '"rules":["shop.user"],"code":"OVER_LIMIT","statuses":[["OVER_LIMIT",10,"MINUTE",0]]}',
    );
    const again = join(folder, 'again.jsonl');
    await run(recorded.trim().split('\n'), ['-config_dir', rules, '-decisions', again]);
    expect(readFileSync(again, 'utf8')).toBe(recorded);
  });

  it('prints the same bytes for the same log', async () => {
    const rules = directory('rules', RULES(3));
    const first = await run(LOG, ['-config_dir', rules]);
    expect(first.stdout).toContain('15 requests, 9 refused (60.00 %)');
    expect(await run(LOG, ['-config_dir', rules])).toEqual(first);
  });

  it('compares two sets of rules: 3 when a decision changes, with the rules and keys', async () => {
    const rules = directory('rules', RULES(10));
    const next = directory(
      'next',
      RULES(11, '  - key: ip\n    rate_limit: { unit: day, requests_per_unit: 0 }\n'),
    );
    const { code, comparison } = await report(LOG, ['-config_dir', rules, '-against', next]);
    expect(code).toBe(3);
    expect(comparison).toMatchObject({
      ...{ changed: 2, okToOver: 1, overToOk: 1 },
      pairs: [
        { change: 'OK→OVER_LIMIT', first: '-', second: 'shop.ip', requests: 1 },
        { change: 'OVER_LIMIT→OK', first: 'shop.user', second: '-', requests: 1 },
      ],
      keys: [
        { key: 'shop_ip_1', okToOver: 1, overToOk: 0 },
        { key: 'shop_user_ann', okToOver: 0, overToOk: 1 },
      ],
      changedLimits: [{ rule: 'shop.user', first: '10 per minute', second: '11 per minute' }],
      onlyInFirst: [],
      onlyInSecond: [expect.stringContaining('shop.ip: unit=DAY requests_per_unit=0,')],
    });
  });

  const MAP = `domain: shop
time: { field: time }
descriptors:
  - entries: [{ key: user, field: usr }]
`;
  it.each([
    ['field: usr', 'map.yaml:4:35: field "usr" is not one of remote_addr, '],
    [
      'header: x-user',
      'header needs the header "x-user": the log has referer and user-agent alone',
    ],
    ['masked_address: { field: ip }', 'field "ip" is not one of'],
  ])('refuses a map of the combined format with %s', async (source, why) => {
    const map = join(folder, 'map.yaml');
    writeFileSync(
      map,
      MAP.replace('time: { field: time }', 'time: { field: time_local, format: clf }').replace(
        'field: usr',
        source,
      ),
    );
    const args = ['-config_dir', directory('rules', RULES(10)), '-format', 'combined', '-map', map];
    const { code, stderr } = await run(LOG, args);
    expect([code, stderr]).toEqual([1, expect.stringContaining(why)]);
  });

  it('keeps 16 MiB of refused keys, changed keys and pairs of rules, and says how many are others', async () => {
    const named = (limit: number) => `domain: shop
descriptors:
  - { key: user, detailed_metric: true, rate_limit: { unit: minute, requests_per_unit: ${String(limit)} } }
`;
    const [rules, next] = [directory('rules', named(0)), directory('next', named(1))];
    const LINES = 1_300;
    const name = (at: number) => `user=${String(at)}${'x'.repeat(8_000)}`;
    const log = Array.from({ length: LINES }, (_, at) => line(1, name(at)));
    const args = ['-config_dir', rules, '-against', next];
    const said = await report(log, args);
    const { mostLimitedOthers = 0, comparison } = said;
    const { pairs, pairsOthers, keysOthers } = comparison as {
      readonly pairs: readonly { readonly first: string }[];
      readonly pairsOthers: number;
      readonly keysOthers: number;
    };
    expect([pairs.length + pairsOthers, keysOthers]).toEqual([LINES, mostLimitedOthers]);
    expect(mostLimitedOthers).toBeGreaterThan(100);
    expect(pairs[0]?.first.length).toBeGreaterThan(8_000);
    const kept = pairs.reduce((sum, { first }) => sum + first.length, 0);
    expect(2 * kept).toBeLessThan(16 * 1024 * 1024);
    const { stdout } = await run(log, args);
    expect(stdout).toContain('of keys beyond the first 16 MiB of refused keys');
    expect(stdout).toContain('by pairs beyond the first 16 MiB of them');
    expect(stdout).toContain('of keys beyond the first 16 MiB of changed keys');
  });

  it('prints what docs/simulate/simulate.schema.json describes', async () => {
    const schema = JSON.parse(
      readFileSync('docs/simulate/simulate.schema.json', 'utf8'),
    ) as Schema & {
      readonly $defs: Readonly<Record<string, Schema>>;
    };
    const { type = 'object', required = [], properties = {}, $defs } = schema;
    const root = { type, required, properties, additionalProperties: false };
    const named = Object.entries($defs).map(([name, of]) => [`#/$defs/${name}`, of]);
    const definitions = Object.fromEntries(named) as Readonly<Record<string, Schema>>;
    const [rules, next] = [directory('rules', RULES(10)), directory('next', RULES(11))];
    for (const more of [[], ['-against', next], ['-sample_rate', '0.5']]) {
      const log = [...LOG, 'what', line(16, 'user=ann').replace('"shop"', '"other"')];
      const { stdout } = await run(log, ['-config_dir', rules, '-report', 'json', ...more]);
      expect(problemsOf(JSON.parse(stdout), root, definitions)).toEqual([]);
    }
  });

  it.each([
    [['-config_dir', 'x', '-format', 'combined'], '-format combined needs -map'],
    [['-config_dir', 'x', '-from', 'now'], '-from is "now", expected a time like'],
    [['-config_dir', 'x', '-reorder', '5'], '-reorder is "5", expected a duration like 5s'],
    [['-config_dir', 'x', '-sample_rate', '2'], '-sample_rate is "2", expected a number above 0'],
    [['-config_dir', 'x', '-report', 'xml'], '-report is "xml", expected one of text, json'],
    [['-confg', 'x'], 'no such flag: -confg\n'],
    [['stray'], 'unknown argument "stray"\n'],
    [['-config_dir'], '-config_dir needs a value\n'],
    [['-merge_domain_configs=true'], '-merge_domain_configs takes no value\n'],
    [[], '-config_dir is missing'],
  ])('%p ends with 1 and the usage', async (args, message) => {
    const { code, stderr } = await run([], args);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).toContain('usage: ratelimit-simulate');
  });

  it.each([
    ['-input', ['-input', '/no/such'], 'open', 'it does not exist (ENOENT)'],
    ['-map', ['-format', 'combined', '-map', '/no/such'], 'read', 'it does not exist (ENOENT)'],
    ['-decisions', ['-decisions', '/no/such'], 'open', 'it does not exist (ENOENT)'],
  ])(
    'names %s and its file when it cannot be used, and ends with 1',
    async (flag, args, act, why) => {
      const { code, stderr } = await run(LOG, [
        '-config_dir',
        directory('rules', RULES(10)),
        ...args,
      ]);
      expect([code, stderr]).toEqual([1, `${flag} /no/such: cannot ${act} the file: ${why}\n`]);
    },
  );

  it('says so when the log is a directory', async () => {
    const rules = directory('rules', RULES(10));
    const { code, stderr } = await run(LOG, ['-config_dir', rules, '-input', rules]);
    expect([code, stderr]).toEqual([1, `-input ${rules}: expected a file, it is a directory\n`]);
  });

  it('says so when the decisions cannot be written', async () => {
    const rules = directory('rules', RULES(10));
    const { code, stderr } = await run(LOG, ['-config_dir', rules, '-decisions', '/dev/full']);
    const reason = 'cannot write the file: the disk is full (ENOSPC)';
    expect([code, stderr]).toEqual([1, `-decisions /dev/full: ${reason}\n`]);
  });

  it('refuses rules that the service would refuse, with the place', async () => {
    const rules = directory('rules', RULES(10).replace('minute', 'fortnight'));
    const { code, stderr } = await run(LOG, ['-config_dir', rules]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/shop\.yaml:4:\d+: .*fortnight/)]);
  });
});
