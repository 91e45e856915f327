import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseDocument } from 'yaml';
import { stopEnvoys } from '../support/edge/envoy';
import { eventually } from '../support/edge/eventually';
import {
  startModelBehindEnvoy,
  type ModelBehindEnvoy,
  type Question,
} from '../support/edge/model-behind-envoy';
import { PROGRAMS } from '../support/edge/programs';
import { startRateLimitRecorder, type RateLimitRecorder } from '../support/rate-limit-recorder';

const program = PROGRAMS.envoy();
const whereEnvoyIs = program === undefined ? describe.skip : describe;

let recorder: RateLimitRecorder;
let llm: ModelBehindEnvoy;
afterEach(async () => {
  await llm.stop();
  await stopEnvoys();
  recorder.stop();
});

async function start(edit?: (config: string) => string): Promise<void> {
  recorder = await startRateLimitRecorder();
  llm = await startModelBehindEnvoy(program ?? '', recorder.address, edit);
}

/** All calls once there are so many, the ids in them by their number in order of appearance. */
async function callsOnceThereAre(count: number): Promise<readonly (readonly string[])[]> {
  const ids: string[] = [];
  await eventually(() => {
    expect(recorder.calls.length).toBeGreaterThanOrEqual(count);
  });
  return recorder.calls.map((call) =>
    call.map((line) =>
      line.replace(/(reserve|settle)=([^\]]+)/, (_all, key: string, id: string) => {
        if (!ids.includes(id)) ids.push(id);
        return `${key}=${String(ids.indexOf(id) + 1)}`;
      }),
    ),
  );
}

const holds = (hits: number, model = 'small') => [
  `[user=ann][reserve=1] ${String(hits)}`,
  `[user=ann][model=${model}]`,
];
const settles = (hits: number) => [`[user=ann][settle=1] ${String(hits)}`, '[user=ann][settle=1]'];

/** The blocks of YAML below a heading of the page, parsed. */
function blocksOf(heading: string): readonly unknown[] {
  const page = readFileSync(join(__dirname, '../../docs/budgets/token-budgets.md'), 'utf8');
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [text = ''] = section.split('\n## ');
  return [...text.matchAll(/^```yaml\n([^]*?)^```/gm)].map(([, block = '']): unknown =>
    parse(block),
  );
}

const MANAGER = [
  'static_resources',
  'listeners',
  0,
  'filter_chains',
  0,
  'filters',
  0,
  'typed_config',
];
const ROUTE = [...MANAGER, 'route_config', 'virtual_hosts', 0, 'routes', 0];
const LIMITS = [...ROUTE, 'typed_per_filter_config', 'envoy.filters.http.ratelimit', 'rate_limits'];
const rulesOf = (filter: number, below: readonly string[]) => [
  ...[...MANAGER, 'http_filters', filter, 'typed_config', 'response_rules', ...below, 'rules'],
];

/** Puts values into Envoy's configuration, each at its path. */
const put =
  (values: readonly (readonly [path: readonly unknown[], value: unknown])[]) =>
  (config: string) => {
    const document = parseDocument(config);
    for (const [path, value] of values) {
      if (!document.hasIn(path)) throw new Error(`the example has nothing at ${path.join('.')}`);
      document.setIn(path, document.createNode(value));
    }
    return document.toString();
  };
const hitsOf = (block: unknown) => (block as { readonly hits_addend: object }).hits_addend;

const STREAM = { stream: true, stream_options: { include_usage: true } };

whereEnvoyIs('what Envoy 1.40 asks for with the configuration of examples/llm', () => {
  it.each<[string, Question, readonly string[], readonly string[]]>([
    ['an answer', { words: 7, max_tokens: 100 }, holds(100), settles(10)],
    ['a stream', { words: 7, max_tokens: 100, ...STREAM }, holds(100), settles(10)],
    ['no max_tokens', { words: 7 }, holds(1000), settles(10)],
    ['a 503', { words: 7, model: 'broken' }, holds(1000, 'broken'), settles(0)],
    [
      'a 503 of a stream',
      { words: 7, model: 'broken', ...STREAM },
      holds(1000, 'broken'),
      settles(0),
    ],
    ['a cut answer, a 502', { words: 7, model: 'cut' }, holds(1000, 'cut'), settles(0)],
    [
      'a cut stream',
      { words: 8, model: 'cut', ...STREAM },
      holds(1000, 'cut'),
      ['[user=ann][settle=1]'],
    ],
    ['a stream without usage', { words: 7, stream: true }, holds(1000), ['[user=ann][settle=1]']],
  ])('holds and settles %s', async (_what, question, held, settled) => {
    await start();
    await llm.ask(question);
    expect(await callsOnceThereAre(2)).toEqual([held, settled]);
  });

  it('settles a refused request with 0', async () => {
    await start();
    recorder.answerWith('OVER_LIMIT');
    expect((await llm.ask({ words: 7 })).status).toBe(429);
    expect(await callsOnceThereAre(2)).toEqual([holds(1000), settles(0)]);
  });

  it('takes nothing else from the client for an estimate than a number from 1 to a million', async () => {
    await start();
    const estimates: readonly (readonly [written: string, held: number])[] = [
      ['50', 50],
      ['"50"', 50],
      ['1.5', 1],
      ['0', 1000],
      ['-1', 1000],
      ['null', 1000],
      ['"many"', 1000],
      ['"nan"', 1000],
      ['"inf"', 1_000_000],
      ['2000000000', 1_000_000],
      ['1e30', 1_000_000],
      ['20, "max_completion_tokens": 70', 70],
    ];
    for (const [written] of estimates)
      await llm.ask(`{ "model": "broken", "max_tokens": ${written} }`);
    await llm.ask('{ "max_tokens": ');
    const calls = await callsOnceThereAre(2 * (estimates.length + 1));
    const held = calls.flat().filter((line) => line.includes('reserve='));
    expect(held.map((line) => Number(line.split(' ')[1]))).toEqual([
      ...estimates.map(([, hits]) => hits),
      1000,
    ]);
  });

  it('holds by the other estimates of the page', async () => {
    const headers = { 'x-estimate': '44' };
    const held: unknown[] = [];
    for (const block of blocksOf('Estimates')) {
      await start(put([[[...LIMITS, 0, 'hits_addend'], hitsOf(block)]]));
      for (const given of [headers, {}])
        await llm.ask({ words: 7, max_tokens: 500 }, { headers: given });
      const lines = (await callsOnceThereAre(4)).flat().filter((line) => line.includes('reserve='));
      held.push(lines.map((line) => Number(line.split(' ')[1])));
      await llm.stop();
      recorder.stop();
    }
    const body =
      '{"model":"small","messages":[{"role":"user","content":"say 7 words"}],"max_tokens":500}';
    const sized = Math.floor(500 + body.length / 4);
    expect(held).toEqual([
      [1000, 1000],
      [44, 1000],
      [sized, sized],
      [0, 0],
    ]);
  });

  it('takes the cost from a header of the answer, where it is a number', async () => {
    const [format] = blocksOf('A cost in a header');
    // The model behind it writes no such header: this Envoy adds what the question says.
    const added = ['x-want', 'x-want-too'].map((name) => ({
      header: { key: 'x-cost', value: `%REQ(${name})%` },
      append_action: 'APPEND_IF_EXISTS_OR_ADD',
    }));
    await start((config) => {
      const document = parseDocument(
        put([[[...LIMITS, 2, 'hits_addend'], hitsOf(format)]])(config),
      );
      document.setIn([...ROUTE, 'response_headers_to_add'], document.createNode(added));
      return document.toString();
    });
    const costs: readonly (readonly [written: string, hits: number | undefined])[] = [
      ['7', 7],
      ['0', 0],
      ['12.7', 12],
      ['1e3', 1_000],
      ['0x10', 16],
      ['1000000000', 1_000_000_000],
      ['1000000001', undefined],
      ['', undefined],
      ['-1', undefined],
      ['many', undefined],
      ['7 tokens', undefined],
    ];
    for (const [written] of costs)
      await llm.ask({ words: 1 }, { headers: written === '' ? {} : { 'x-want': written } });
    await llm.ask({ words: 1 }, { headers: { 'x-want': '5', 'x-want-too': '9' } });
    const calls = await callsOnceThereAre(2 * (costs.length + 1));
    const settled = calls.filter(([line = '']) => line.includes('settle='));
    const hits = settled.map((lines) => {
      const said = lines.find((line) => /\] \d+$/.test(line));
      return said === undefined ? undefined : Number(said.split('] ')[1]);
    });
    expect(hits).toEqual([...costs.map(([, cost]) => cost), 5]);
  });

  it.each([{}, STREAM])('weighs input and output as the page has it: %j', async (how) => {
    const [rules, settle] = blocksOf('Input and output weighed');
    const inEvents = (rules as readonly object[]).map((rule) => ({ rule }));
    await start(
      put([
        [rulesOf(1, []), rules],
        [rulesOf(2, ['content_parser', 'typed_config']), inEvents],
        [[...LIMITS, 2, 'hits_addend'], hitsOf(settle)],
      ]),
    );
    await llm.ask({ words: 7, ...how });
    expect(await callsOnceThereAre(2)).toEqual([holds(1000), settles(3 + 4 * 7)]);
  });

  it('gives parallel requests ids of their own, whatever the client writes', async () => {
    await start();
    const headers = { 'x-request-id': 'mine', 'x-weir-id': 'mine' };
    await Promise.all([1, 2, 3].map((words) => llm.ask({ words }, { headers })));
    const lines = (await callsOnceThereAre(6)).flat();
    for (const key of ['reserve', 'settle']) {
      const ids = lines.map((line) => line.split(`${key}=`)[1]?.slice(0, 1)).filter(Boolean);
      expect([...new Set(ids)].sort()).toEqual(['1', '2', '3']);
    }
  });

  it('refuses a body of another type, whose model it would not read, without asking', async () => {
    await start();
    const asked = '{ "model": "large" }';
    expect((await llm.ask(asked, { headers: { 'content-type': 'text/plain' } })).status).toBe(404);
    expect(recorder.calls).toEqual([]);
  });

  it.each([true, false])(
    'settles without hits when the client leaves while the model works, stream: %s',
    async (stream) => {
      await start();
      const client = new AbortController();
      const { signal } = client;
      const leave = () => {
        client.abort();
      };
      const question = { words: 400, model: 'slow', stream };
      const asked = llm.ask(question, { signal, onPiece: leave }).catch(() => undefined);
      await callsOnceThereAre(1);
      if (!stream) {
        await eventually(async () => {
          expect(await llm.counter('cluster.model.upstream_rq_active')).toBe(1);
        });
        leave();
      }
      await asked;
      expect(await callsOnceThereAre(2)).toEqual([holds(1000, 'slow'), ['[user=ann][settle=1]']]);
    },
  );

  it('takes the call back when the client leaves before it is answered, and settles nothing', async () => {
    await start();
    recorder.answerWith('nothing');
    const client = new AbortController();
    const asked = llm.ask({ words: 7 }, { signal: client.signal }).catch(() => 'left');
    await callsOnceThereAre(1);
    client.abort();
    expect(await asked).toBe('left');
    await eventually(() => {
      expect(recorder.cancelled()).toBe(1);
    });
    recorder.answerWith('OK');
    await llm.ask({ words: 7 });
    const calls = await callsOnceThereAre(3);
    expect(calls.flat().filter((line) => line.includes('=1]'))).toEqual([
      '[user=ann][reserve=1] 1000',
    ]);
  });

  it('settles what it stopped waiting for, since the request went on', async () => {
    await start((config) => config.replace('timeout: 5s', 'timeout: 0.1s'));
    recorder.answerWith('nothing');
    expect((await llm.ask({ words: 7 })).status).toBe(200);
    expect(await callsOnceThereAre(2)).toEqual([holds(1000), settles(10)]);
  });
});
