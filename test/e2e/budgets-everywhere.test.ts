import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { createTemporaryDirectory, type TemporaryDirectory } from '../support/rule-directory';
import { runClient } from '../../src/cli/run';
import { requestOf, RULES, WORDS, type Call, type Word } from '../support/budget-words';
import { startService, stopServices, type Service } from '../support/edge/service';

/**
 * Each word of budgets, in each place where limits have words. One service is asked once until each rule refuses, and every place
 * then says what happened; with Redis, and with several workers, as with one process in memory.
 */

const EACH = Object.entries(WORDS);

const BIN = join(__dirname, '../../dist/src/bin');

let rules: TemporaryDirectory;
let redis: RedisServer;
beforeAll(async () => {
  rules = createTemporaryDirectory();
  for (const [path, text] of Object.entries(RULES)) rules.write(path, text);
  redis = await startRedisServer();
});
afterAll(async () => {
  await redis.stop();
  rules.remove();
});

/** What a command printed. */
const run = (command: string, ...args: readonly string[]) =>
  new Promise<string>((resolve) => {
    execFile(process.execPath, [join(BIN, `${command}.js`), ...args], (_, stdout, stderr) => {
      resolve(stdout + stderr);
    });
  });

const lastOf = ({ calls }: Word) => calls.at(-1) as Call;

const send = (url: string, body?: object) =>
  fetch(
    url,
    body && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    },
  );
const text = async (url: string, body?: object) => (await send(url, body)).text();

/** What is looked at of the answers. */
interface Said {
  readonly rules: readonly {
    readonly metric: string;
    readonly charge?: string;
    readonly limit: { readonly words: string };
  }[];
  readonly reservations: readonly { readonly id: string; readonly hits: number }[];
  readonly keys: readonly { readonly resetSeconds: number }[];
}

async function json(url: string, body?: object) {
  const answer = await send(url, body);
  return { status: answer.status, body: (await answer.json()) as Said };
}

interface Setting {
  readonly isInRedis?: boolean;
  readonly workers?: string;
}

const SETTINGS: readonly (readonly [string, Setting])[] = [
  ['memory', {}],
  ['Redis', { isInRedis: true }],
  ['Redis and two workers', { isInRedis: true, workers: '2' }],
];

describe.each(SETTINGS)('budgets with counters in %s', (name, { isInRedis = false, workers }) => {
  const logFile = () => join(rules.path, `${name}.log`);
  let service: Service;
  let metrics = '';

  const post = async (path: string, body: object) =>
    (await json(`${service.debug}/api/v1/${path}`, body)).body;
  const get = (path: string) => json(`${service.debug}/api/v1/${path}`);
  const ask = ({ domain }: Word, call: Call) =>
    json(`${service.http}/json`, requestOf(domain, call));

  beforeAll(async () => {
    await redis.client.flushall();
    const port = String(await freePort());
    metrics = `http://127.0.0.1:${port}/metrics`;
    service = await startService({
      waitUntilUp: isInRedis ? 'connected' : true,
      env: {
        RUNTIME_ROOT: rules.path,
        RESPONSE_DYNAMIC_METADATA: 'true',
        ADMIN_API: 'write',
        ...{ DECISION_LOG: 'all', DECISION_LOG_SAMPLE: '1', DECISION_LOG_FILE: logFile() },
        ...{
          USE_PULLMETRICS: 'true',
          PULLMETRICS_ADDR: `127.0.0.1:${port}`,
          DISABLE_STATS: 'false',
        },
        ...(isInRedis
          ? { KVSTORE_URL: `127.0.0.1:${String(redis.port)}` }
          : { BACKEND_TYPE: 'memory' }),
        ...(workers !== undefined && { WORKERS: workers }),
      },
    });
    for (const [, word] of EACH)
      for (const call of word.calls.slice(0, -1))
        expect(await ask(word, call)).toMatchObject({ status: 200 });
  });
  afterAll(stopServices);

  it.each(EACH)('answers which rule and limit refused by %s', async (_, word) => {
    const { by: limitedBy, limit: limitedByLimit } = word;
    expect(await ask(word, lastOf(word))).toMatchObject({
      status: 429,
      body: {
        dynamicMetadata: { limitedBy, ...(limitedByLimit !== undefined && { limitedByLimit }) },
      },
    });
  });

  it.each(EACH)('has %s in the dump of rules, and in their list', async (_, { by, words }) => {
    const dump = (await text(`${service.debug}/rlconfig`)).split('\n');
    expect(dump.filter((one) => one.startsWith(`${by}: `))).toEqual([
      expect.stringContaining(`, limit: ${words}`),
    ]);
    const rule = (await get('rules')).body.rules.find(({ metric }) => metric === by);
    const charge = rule?.charge === undefined ? [] : [`charge: ${rule.charge}`];
    expect([rule?.limit.words, ...charge].join(', ')).toBe(words);
  });

  it.each(EACH)('explains %s', async (_, word) => {
    const url = `${service.debug}/api/v1/explain?format=text`;
    const said = await text(url, requestOf(word.domain, lastOf(word)));
    expect(said).toMatch(/^overall: OVER_LIMIT, because descriptors\[0\] is over a limit/);
    for (const line of word.explained) expect(said).toMatch(line);
  });

  it.each(EACH)('reads what stands under %s', async (_, { domain, counter, read }) => {
    const said = await post('counters/read', requestOf(domain, [[counter]]));
    expect(said).toMatchObject({ counters: [read] });
  });

  it('lists what is open', async () => {
    const open = async (counter: string) => {
      const { body } = await get(`counters/open?domain=llm&entry=${counter}`);
      return body.reservations.map(({ id, hits }) => [id, hits]);
    };
    expect(await open('reserving=a')).toEqual([['y', 6]]);
    expect(await open('flying=a')).toEqual([['x', 1]]);
    expect(await open('listed=a')).toEqual([]);
  });

  it('lists what is limited, as far as it is known here', async () => {
    if (workers !== undefined) {
      expect(await get('limited')).toMatchObject({ status: 409 });
      return;
    }
    const keyOf = (rule: string) => `{c:llm_${rule}_a~3}`;
    if (!isInRedis) {
      const { body } = await get('limited');
      const found = body.keys.map((one) => ({ ...one, resetSeconds: Math.sign(one.resetSeconds) }));
      expect(body).not.toHaveProperty('only');
      expect(new Set(found)).toEqual(
        new Set([
          { key: `${keyOf('listed')}~c`, limit: 3, resetSeconds: 1 },
          { key: `${keyOf('flying')}~r`, limit: 1, resetSeconds: 1 },
          { key: `${keyOf('blocking')}~c`, limit: 1, resetSeconds: 1 },
        ]),
      );
      return;
    }
    // Until the messages of others are heard, nothing is remembered.
    await eventually(async () => {
      const word = WORDS['block'] as Word;
      await ask(word, lastOf(word));
      const { body } = await get('limited');
      expect(body).toMatchObject({
        only: 'blocked',
        keys: [{ key: `${keyOf('blocking')}~c`, limit: 1 }],
      });
      expect(body.keys[0]?.resetSeconds).toBeGreaterThan(3_400);
      expect(body.keys[0]?.resetSeconds).toBeLessThanOrEqual(3_600);
    });
  });

  it.each(EACH)('logs what %s refused', async (_, { by, limit, status, domain }) => {
    await eventually(() => {
      const lines = readFileSync(logFile(), 'utf8').trim().split('\n');
      expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
        expect.objectContaining({
          domain,
          code: 'OVER_LIMIT',
          rules: expect.arrayContaining([by]) as unknown,
          statuses: expect.arrayContaining([status]) as unknown,
          ...(limit !== undefined && { limits: expect.arrayContaining([limit]) as unknown }),
        }),
      );
    });
  });

  it.each(EACH)('shows Prometheus the figures of %s', async (_, word) => {
    await eventually(async () => {
      const lines = (await text(metrics)).split('\n');
      expect(lines).toEqual(expect.arrayContaining([...word.metrics]));
    });
  });

  it.each(EACH)('tells the command line client that %s refused', async (_, word) => {
    const [texts, hits] = lastOf(word);
    const asked = texts.flatMap((one) => ['-descriptors', one]);
    const more = hits === undefined ? [] : ['-descriptor_hits', String(hits)];
    const address = ['-dial_string', service.grpc, '-domain', word.domain];
    const { exitCode, stdout } = await runClient([...address, ...asked, ...more]);
    const limit = word.limit === undefined ? '' : `, its limit ${word.limit}`;
    expect([exitCode, stdout.split('\n')[0]]).toEqual([
      2,
      `overall: OVER_LIMIT, limited by ${word.by}${limit}`,
    ]);
  });

  it.each(EACH)('resets what %s counted, and leaves what is open', async (_, word) => {
    const one = requestOf(word.domain, [[word.counter]]);
    await post('counters/reset', one);
    expect(await post('counters/read', one)).toMatchObject({ counters: [word.reset] });
  });

  it('sets one limit of a list, and ends what is open when it is told to', async () => {
    await post('counters/set', { ...requestOf('llm', [['listed=a']]), used: 99, limit: 'weekly' });
    expect(await post('counters/read', requestOf('llm', [['listed=a']]))).toMatchObject({
      counters: [{ limits: [{ remaining: 3 }, { remaining: 1 }] }],
    });
    const slots = requestOf('llm', [['flying=a']]);
    await post('counters/reset', { ...slots, open: true });
    expect(await post('counters/read', slots)).toMatchObject({ counters: [{ open: 0, held: 0 }] });
  });

  it('has a log in which a replay finds all that was refused', async () => {
    const input = ['-input', logFile(), '-config_dir', join(rules.path, 'config')];
    const said = await run('ratelimit-simulate', ...input, '-report', 'json');
    const { rules: replayed } = JSON.parse(said) as {
      rules: readonly { rule: string; over: number }[];
    };
    const refusing = replayed.filter(({ over }) => over > 0).map(({ rule }) => rule);
    expect(refusing.toSorted()).toEqual(EACH.map(([, { by }]) => by).toSorted());
  });
});
