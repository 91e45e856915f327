import { counterStates, limiterOf, type StateLimiter, READ_FIRST_NAMES } from '../support/limiters';
import fc from 'fast-check';
import { plainLimiter, type AlgorithmName } from '../../src/core/kinds/kinds';
import { tickAt } from '../../src/core/kinds/ticks';
import { outcomeOf } from '../../src/core/kinds/whole';
import { countAdmitted } from '../../src/core/kinds/whole';
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
const micros = (seconds: number): number => Math.round(seconds * 1_000) * 1_000;

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

    it('counts many keys, also the same key twice, in one call', async () => {
      const [one, two, three, four] = [freshKey(), freshKey(), `ключ ${freshKey()}`, freshKey()];
      const increments = [
        ask(one, gcra, 4),
        ask(two, sliding, 2, { times: 3 }),
        ask(one, gcra, 4, { times: 2 }),
        ask(three, guarded, 7),
        ask(two, sliding, 0),
        ask(one, gcra),
        ask(four, gcra),
        ask(three, guarded, -2n),
        ask(three, guarded, 0),
      ];
      const options = { nowMicros: micros(START), isDeclaringKeys };
      const { states, failures, held } = await call(increments, options);
      const hit = gcra.periodTicks;
      expect(states.map((state) => state?.used)).toEqual([0, 0, 4 * hit, 0, 6, 8 * hit, 0, 7, 5]);
      expect([failures, held]).toEqual([undefined, undefined]);
      expect(await server.client.get(one)).toBe(`540000000 ${String(micros(START))}`);
      expect(await server.client.get(two)).toBe('28333334 0 6');
      expect(await server.client.get(three)).toBe('5');
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
  it('uses the clock of the server', async () => {
    const key = freshKey();
    await call([ask(key, gcra)]);
    const [, tick] = (await server.client.get(key))?.split(' ').map(Number) ?? [];
    const [seconds = 0, rest = 0] = (await server.client.time()).map(Number);
    expect(seconds * 1_000_000 + rest - (tick ?? 0)).toBeGreaterThanOrEqual(0);
    expect(seconds * 1_000_000 + rest - (tick ?? 0)).toBeLessThan(60_000_000);
  });

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

  it('decides the counters of a request together, whatever their algorithms', async () => {
    const options = { nowMicros: micros(START), groupEnds: [4, 5] };
    const keys = [freshKey(), freshKey(), freshKey(), freshKey()];
    const [a = '', b = '', c = '', d = ''] = keys;
    const all = (last: number) => [
      ask(a, gcra, 3),
      ask(b, sliding, 3),
      ask(c, guarded, 3),
      ask(d, undefined, last),
      ask(a, gcra, 1),
    ];
    const first = await call(all(8), options);
    expect(first.held).toBeUndefined();
    expect(first.after[3]).toBe(8);
    const second = await call(all(3), options);
    expect(second.held).toEqual([true, true, true, false, false]);
    expect(second.after[3]).toBe(11);
    expect(second.states.slice(1, 3)).toMatchObject([{ used: 3 }, { used: 3 }]);
    const used = Number((await server.client.get(a))?.split(' ')[0]);
    expect(used).toBe(5 * gcra.periodTicks);
    const third = await call(
      [ask(b, sliding, 98), ask(d, undefined, 0, { limiter: plainLimiter(20) })],
      {
        nowMicros: micros(START),
        groupEnds: [2],
      },
    );
    expect(third.held).toEqual([false, true]);
    expect(third.after[1]).toBe(11);
    expect(await server.client.get(b)).toBe('28333334 0 3');
  });

  it('charges what it refuses where the rule says so, also hits beyond 2^53', async () => {
    const [a, b, c] = [freshKey(), freshKey(), freshKey()];
    const debt = { chargeDenied: true };
    await call([
      ask(a, rule('gcra', 1, { ...debt, periodSeconds: 90_000_000 }), 2n ** 63n - 1n),
      ask(b, rule('sliding_window', 100, debt), 2n ** 63n - 1n),
      ask(c, rule('sliding_window', 1, debt), 2n ** 63n - 1n),
    ]);
    expect(await server.client.get(a)).toMatch(/^9007199254740991 \d+$/);
    expect(await server.client.get(b)).toMatch(/^\d+ 0 100000000$/);
    expect(await server.client.strlen(c)).toBe(8 * 64);
    expect(await server.client.pttl(a)).toBeGreaterThan(315_576_000_000_000);
    expect(await server.client.pttl(a)).toBeLessThanOrEqual(315_576_000_001_000);
  });

  it('judges a refund by what is left after it', async () => {
    const [a, b] = [freshKey(), freshKey()];
    const owing = rule('gcra', 10, { chargeDenied: true });
    const options = { nowMicros: micros(START), groupEnds: [2] };
    await call([ask(a, owing, 10), ask(a, owing, 2)], { nowMicros: micros(START) });
    const refund = (hits: number) => call([ask(a, owing, hits), ask(b, gcra)], options);
    expect((await refund(-1)).held).toEqual([false, true]);
    expect((await refund(-1)).held).toBeUndefined();
  });

  it('overwrites a sliding window in place and keeps its end, also when it grows longer', async () => {
    const key = freshKey();
    const counter = new AlgorithmCounter();
    const wide = rule('sliding_window', 2_000);
    // Written shorter at 31 s and in a new window at 61 s: only there it gets a new time to live.
    const endAfter = (seconds: number) => (seconds < 61 ? 121 - 31 : 121 - 1);
    for (const [seconds, hits] of [
      [0, 8],
      [1, 1],
      [2, 1],
      [30, 95],
      [31, -100],
      [32, 3],
      [61, 7],
      [62, 1],
    ] as const) {
      const nowMicros = micros(START + seconds);
      const tick = nowMicros / wide.tickMicros;
      const asks = { hits, times: 1 };
      const { states } = await call([ask(key, wide, hits)], { nowMicros });
      expect(states[0]).toEqual({ ...counter.apply(wide, tick, asks), atMicros: nowMicros });
      const kept = (await server.client.pttl(key)) / 1_000;
      expect([seconds, Math.ceil(kept)]).toEqual([seconds, seconds < 31 ? 121 : endAfter(seconds)]);
      expect((await server.client.get(key))?.split(' ').slice(1).map(Number)).toEqual([
        counter.previous,
        counter.stored?.[0],
      ]);
    }
  });

  it('lets the odd key of a clock that jumped fail alone, also by the short way', async () => {
    const key = freshKey();
    await server.client.set(key, '5 x');
    const { failures, states } = await call([ask(key, gcra), ask(freshKey(), sliding)]);
    expect([...(failures?.keys() ?? [])]).toEqual([0]);
    expect(states[1]).toMatchObject({ used: 0 });
  });

  it.each([-10, 10])(
    'keeps its promise when the clock of the server jumps by %d s',
    async (jump) => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 12 }),
          fc.integer({ min: 1, max: 600 }),
          fc.integer({ min: 1, max: 40 }),
          async (burst, limit, jumpAt) => {
            const [bucket, window] = [
              rule('gcra', limit, { burst }),
              rule('sliding_window', limit),
            ];
            const [a, b] = [freshKey(), freshKey()];
            const admitted = { gcra: 0, sliding: 0 };
            const STEPS = 40;
            for (let step = 0; step < STEPS; step += 1) {
              const seconds = step * 0.25 + (step >= jumpAt ? jump : 0);
              const asks = { hits: 1, times: 3 };
              const { states } = await call([ask(a, bucket, 1, asks), ask(b, window, 1, asks)], {
                nowMicros: micros(START + 20 + seconds),
              });
              const [first, second] = states as [CounterState, CounterState];
              admitted.gcra += countAdmitted(bucket, first, asks);
              admitted.sliding += countAdmitted(window, second, asks);
            }
            const seconds = STEPS * 0.25;
            // Ahead: what drains in the jump, once. Back: the counter stands still, and gives nothing.
            const more = jump > 0 ? Math.ceil((limit * jump) / 60) : 0;
            const promise = burst + Math.floor((limit * seconds) / 60) + more;
            expect(admitted.gcra).toBeLessThanOrEqual(promise);
            expect(admitted.sliding).toBeLessThanOrEqual(limit);
          },
        ),
        RUNS,
      );
    },
  );

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
