import { counterStates, limiterOf, type StateLimiter, READ_FIRST_NAMES } from '../support/limiters';
import fc from 'fast-check';
import { plainLimiter, type AlgorithmName } from '../../src/core/kinds/kinds';
import { tickAt } from '../../src/core/kinds/ticks';
import { outcomeOf } from '../../src/core/kinds/whole';
import { type CounterState } from '../../src/core/kinds/kind';
import {
  encodeOperationsCall,
  readOperationsAnswer,
  type ScriptIncrement,
} from '../../src/counters/redis/operations-call';
import { OPERATIONS_SCRIPT } from '../../src/counters/redis/lua/scripts';
import { unpack } from '../../src/counters/redis/message-pack';
import { callScript } from '../../src/counters/redis/script-call';
import { MOVES, play, rules } from '../support/algorithm-arbitraries';
import { AlgorithmCounter } from '../support/algorithm-counter';
import { describeWithStores, nearRedis, type NearRedis } from '../support/near-stores';

const START = 1_700_000_040;
const RUNS = { numRuns: 60 };

let server: NearRedis;
let serial = 0;

beforeAll(async () => {
  server = await nearRedis(START);
});
afterAll(() => server.client.quit());

const freshKey = (): string => `algorithms_${String((serial += 1))}`;

interface CallOptions {
  readonly groupEnds?: readonly number[];
  readonly nowMicros?: number | undefined;
  readonly isDeclaringKeys?: boolean;
  readonly client?: NearRedis['client'];
}

const call = async (increments: readonly ScriptIncrement[], options: CallOptions = {}) => {
  const { groupEnds, nowMicros, isDeclaringKeys = true, client = server.client } = options;
  const now = nowMicros === undefined ? {} : { nowMicros };
  const args = encodeOperationsCall({
    increments,
    groupEnds,
    nowSeconds: 0,
    isDeclaringKeys,
    ...now,
  });
  const answer = await callScript(client, OPERATIONS_SCRIPT, args, 'eval');
  const reply = readOperationsAnswer(unpack(answer as Buffer), increments);
  return { ...reply, states: counterStates(reply.states) ?? [] };
};

const ask = (
  key: string,
  algorithm: StateLimiter | undefined,
  hits: number | bigint = 1,
  more: Partial<ScriptIncrement> = {},
): ScriptIncrement => ({
  key,
  hits,
  times: 1,
  ttlSeconds: 60,
  limiter: algorithm ?? plainLimiter(10),
  ...more,
});

const rule = (
  name: AlgorithmName,
  limit: number,
  more: { burst?: number; chargeDenied?: boolean; periodSeconds?: number } = {},
): StateLimiter => {
  const { burst, chargeDenied = false, periodSeconds = 60 } = more;
  return limiterOf({ name, limit, burst, chargeDenied, periodSeconds });
};

const gcra = rule('gcra', 60, { burst: 10 });
const log = rule('sliding_window', 10);
const sliding = rule('sliding_window', 100);
const guarded = rule('fixed_window', 10);
/** The ticks that a log is packed of. */
const unpackLog = (bytes: Buffer): string =>
  Array.from({ length: bytes.length / 8 }, (_, at) => bytes.readDoubleLE(8 * at)).join(' ');

/** The value under a key as operators see it; null: there is none. */
const valueOf = async (key: string, { kind }: StateLimiter): Promise<string | null> => {
  const bytes = await server.client.getBuffer(key);
  return bytes && (kind.lua?.isLog === true ? unpackLog(bytes) : bytes.toString());
};

/** The value under the key and its time to live are those of the counter in memory. */
const expectKept = async (
  key: string,
  limiter: StateLimiter,
  counter: AlgorithmCounter,
): Promise<void> => {
  const { kind, periodTicks, tickMicros } = limiter;
  const [value, ttlMs] = await Promise.all([valueOf(key, limiter), server.client.pttl(key)]);
  const [used, tick] = counter.stored ?? [];
  if (!kind.isRecord) {
    expect(Number(value ?? 0)).toBe(used ?? 0);
    return;
  }
  if (used === undefined || tick === undefined) {
    expect(value).toBeNull();
    return;
  }
  const { previous, ages } = counter;
  expect(value).toBe(kind.encode(limiter, { used, previous, elapsed: 0, ages }, tick));
  // What is overwritten in place keeps the end that it got there: Redis' clock, which ends it, is not the one given.
  const isInPlace = kind.lua?.hasPrevious === true;
  const slackMs = isInPlace ? (periodTicks * tickMicros) / 1_000 : 0;
  expect(ttlMs).toBeLessThanOrEqual(counter.lifetimeMs + slackMs);
  expect(ttlMs).toBeGreaterThan(counter.lifetimeMs - slackMs - 60_000);
};

describeWithStores.each([true, false])(
  'the script of algorithms, declaring keys: %s',
  (isDeclaringKeys) => {
    it.each(READ_FIRST_NAMES)('counts %s as memory does, step by step', async (name) => {
      await fc.assert(
        fc.asyncProperty(rules(name, fc.boolean()), MOVES, async (any, moves) => {
          const key = freshKey();
          const counter = new AlgorithmCounter();
          for (const move of play(any, moves, tickAt(START, any.tickMicros))) {
            const increment = ask(key, any, move.hits, { times: move.times });
            const nowMicros = move.tick * any.tickMicros;
            const { states } = await call([increment], { nowMicros, isDeclaringKeys });
            const { atMicros, ...state } = states[0] as CounterState;
            expect(atMicros ?? nowMicros).toBe(nowMicros);
            expect(state).toEqual(counter.apply(any, move.tick, move));
            await expectKept(key, any, counter);
          }
        }),
        RUNS,
      );
    });

    it('fails a key alone whose value is not ours', async () => {
      const good = freshKey();
      const odd = await Promise.all(
        ['', 'text', '1', '-1 5', '9007199254740992 1', '1 2 3 4', '1e3 5'].map(async (value) => {
          const key = freshKey();
          await server.client.set(key, value);
          return key;
        }),
      );
      const list = freshKey();
      await server.client.rpush(list, 'x');
      for (const algorithm of [gcra, sliding]) {
        const increments = [...odd, list, good].map((key) => ask(key, algorithm));
        const { states, failures } = await call(increments, { isDeclaringKeys });
        expect([...(failures?.keys() ?? [])]).toEqual([...odd, list].map((_, index) => index));
        expect([...(failures?.values() ?? [])].map((text) => text.slice(0, 27))).toEqual([
          ...odd.map(() => 'ERR value is not an integer'),
          'WRONGTYPE Operation against',
        ]);
        expect(states.at(-1)).toMatchObject({ used: 0 });
        await server.client.del(good);
      }
    });

    it('writes nothing for looks and for what it refuses', async () => {
      const keys = [freshKey(), freshKey(), freshKey()];
      const each = [gcra, log, guarded];
      const asks = (hits: number) =>
        each.map((algorithm, i) => ask(keys[i] as string, algorithm, hits));
      await call(asks(0), { isDeclaringKeys });
      expect(await server.client.exists(...keys)).toBe(0);
      await call(asks(9), { isDeclaringKeys });
      const before = await server.client.mget(...keys);
      const watcher = server.client.duplicate();
      await watcher.watch(...keys);
      for (let round = 0; round < 5; round += 1) await call(asks(9), { isDeclaringKeys });
      expect(await server.client.mget(...keys)).toEqual(before);
      // A key that is watched and written, by whomever, lets the transaction fail.
      expect(await watcher.multi().ping().exec()).not.toBeNull();
      await watcher.quit();
    });
  },
);

describeWithStores('the script of algorithms', () => {
  it('fails what needs the clock, and not for want of scripts, where it may not read it', async () => {
    await server.client.acl('SETUSER', 'timeless', 'on', 'nopass', '~*', '+@all', '-time');
    const client = server.client.duplicate({ username: 'timeless', password: 'any' });
    const asks = [ask(freshKey(), gcra), ask(freshKey(), guarded), ask(freshKey(), gcra)];
    const reply = await call(asks, { client });
    await client.quit();
    expect([...(reply.failures ?? [])]).toEqual([
      [0, expect.stringMatching(/^ERR the clock of the server/)],
      [2, expect.stringMatching(/^ERR the clock of the server/)],
    ]);
    expect(reply.states[1]).toMatchObject({ used: 0 });
  });

  it('lets the odd key of a clock that jumped fail alone, also by the short way', async () => {
    const key = freshKey();
    await server.client.set(key, '5 x');
    const { failures, states } = await call([ask(key, gcra), ask(freshKey(), sliding)]);
    expect([...(failures?.keys() ?? [])]).toEqual([0]);
    expect(states[1]).toMatchObject({ used: 0 });
  });

  it('admits exactly the promised number to several connections at once', async () => {
    const key = freshKey();
    const slow = rule('gcra', 1, { burst: 50, periodSeconds: 86_400 });
    const replies = await Promise.all(Array.from({ length: 200 }, () => call([ask(key, slow)])));
    const admitted = replies.map(({ states }) =>
      outcomeOf(slow, states[0] as CounterState, { hits: 1, times: 1 }, 1),
    );
    expect(admitted.filter(({ isOver }) => !isOver)).toHaveLength(50);
  });
});
