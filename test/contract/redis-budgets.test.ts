import fc from 'fast-check';
import type { Budget, BudgetLimiter } from '../../src/core/budgets/budget';
import { blockEndMs, NO_BLOCK } from '../../src/core/budgets/block';
import { blockName, stateOf } from '../../src/core/budgets/record';
import type { BudgetState, Reservation, State } from '../../src/core/kinds/kind';
import type { ScriptIncrement } from '../../src/counters/redis/operations-call';
import {
  budgetEntry,
  budgetLimiterOf,
  budgetLimiters,
  budgetSteps,
  ONE_LIMIT_GATES,
  type BudgetStep,
} from '../support/budget-arbitraries';
import { BudgetCounter } from '../support/budget-counter';
import { callBudgets } from '../support/budget-call';
import { unpackRecord } from '../support/packed-record';
import { describeWithStores, nearRedis, type NearRedis } from '../support/near-stores';

const START_MS = 1_700_000_040_000;
const RUNS = { numRuns: 150 };
const SLACK_MS = 15_000;

let server: NearRedis;
let serial = 0;

beforeAll(async () => {
  server = await nearRedis(START_MS / 1_000);
});
afterAll(() => server.client.quit());

const freshKey = (): string => `{c:budget_${String((serial += 1))}~1}~c`;

interface CallOptions {
  readonly groupEnds?: readonly number[];
  readonly nowMs?: number | undefined;
  readonly nowSeconds?: number;
  readonly isDeclaringKeys?: boolean | undefined;
}

const call = (increments: readonly ScriptIncrement[], options: CallOptions = {}) => {
  const { groupEnds, nowMs, isDeclaringKeys } = options;
  const { nowSeconds = (nowMs ?? START_MS) / 1_000 } = options;
  return callBudgets(server.client, increments, { groupEnds, nowMs, nowSeconds, isDeclaringKeys });
};

const ask = (
  key: string,
  limiter: BudgetLimiter,
  hits: number,
  more: Partial<ScriptIncrement> = {},
): ScriptIncrement => ({
  key,
  hits,
  times: 1,
  ttlSeconds: 0,
  limiter: limiter,
  ...more,
});

/** What a step asks of a rule: asks come several times in a row only where one changes nothing but figures. */
const askOf = (key: string, limiter: BudgetLimiter, step: BudgetStep): ScriptIncrement => {
  const { share, mode, id, saysHits } = step;
  const hits = Math.sign(share) * Math.ceil(Math.abs(share) * limiter.size) + 0;
  const isTogether = mode === 'ask' && !limiter.isNeverMerged && hits > 0;
  const reservation: Reservation | undefined =
    mode === 'ask' ? undefined : { mode, id, saysHits: mode === 'settle' && saysHits };
  const asked = mode === 'ask' ? hits : Math.max(0, hits);
  return ask(key, limiter, asked, { times: isTogether ? step.times : 1, reservation });
};

/** A counter at a moment of the clock that the script is told, which was ahead at most so far. */
interface At {
  readonly nowMs: number;
  readonly latestMs: number;
}

/** What Redis holds of the counter is what the model holds of it. */
const expectKept = async (key: string, limiter: BudgetLimiter, counter: BudgetCounter, at: At) => {
  if (limiter.budget.reserve !== undefined) return expectOpen(key, limiter, counter, at);
  const { nowMs } = at;
  const kept = await server.client.getBuffer(key);
  const record = kept === null ? '' : unpackRecord(kept);
  expectRecord(record, limiter, counter, nowMs);
  if (kept === null || counter.hadStrays) return;
  const ms = await server.client.pttl(key);
  const lifeMs = counter.lifeEndMs - counter.writtenMs;
  expect(ms).toBeGreaterThan(lifeMs - SLACK_MS);
  // Windows end by the clock of the process, and are kept for as long as clocks may be apart.
  expect(ms).toBeLessThanOrEqual(lifeMs + 2 * SLACK_MS);
};

/** What has ended, or is not used, may be gone, or be there only since other parts are kept beside it. */
const comparable = (
  state: State | undefined,
  { hadStrays }: Pick<BudgetCounter, 'hadStrays'>,
  nowMs: number,
): unknown => {
  if (!hadStrays || state === undefined || !('entries' in state)) return state;
  const entries = state.entries.map((one) =>
    one.used === 0 ? { ...one, elapsed: 0, endSeconds: 0 } : one,
  );
  const blocks = state.blocks.map((one) => (blockEndMs(one) <= nowMs ? NO_BLOCK : one));
  return { ...state, entries, blocks };
};

/** Whether one has a log where the other has a window of the same period. */
const isSucceeding = (one: string, other: string): boolean =>
  one
    .split(' ')
    .some((name) => /^l\d/.test(name) && other.split(' ').includes(`s${name.slice(1)}`));

/** The names of the parts of a record. */
const formOf = (budget: Budget): string =>
  [
    ...budget.entries.map(({ id }) => id),
    ...budget.blocks.map((terms) => blockName(budget, terms)),
  ].join(' ');

const partsOf = (record: string): readonly string[] =>
  record
    .split(';')
    .slice(0, -1)
    .map((part) => `${part};`)
    .sort();

/**
 * The parts of the rule that was asked are those of the model, and others are what their rules wrote last.
 */
const expectRecord = (
  record: string,
  limiter: BudgetLimiter,
  counter: BudgetCounter,
  nowMs: number,
): void => {
  const { budget } = limiter;
  const parts = record.split(';').slice(0, -1);
  const names = new Set([
    ...budget.entries.map(({ id }) => id),
    ...budget.blocks.map((terms) => blockName(budget, terms)),
  ]);
  for (const { id } of budget.entries)
    if (!parts.some((part) => part.startsWith(`${id} `))) names.add(id.replace(/^l/, 's'));
  const isKnown = (part: string): boolean => names.has(part.split(' ')[0] as string);
  const known = parts.filter(isKnown).map((part) => `${part};`);
  const strays = parts.filter((part) => !isKnown(part) && !part.startsWith('~'));
  for (const stray of strays) {
    const [name = '', ...figures] = stray.split(' ');
    expect(figures.join(' ')).toBe(counter.parts.get(name) ?? figures.join(' '));
  }
  const expected = counter.recordOf(limiter) ?? '';
  const moment = { micros: nowMs * 1_000, nowSeconds: Math.floor(nowMs / 1_000) };
  // A part that has ended may be gone: it says the same as none.
  if (known.sort().join('') !== partsOf(expected).join(''))
    expect(comparable(stateOf(budget, known.join(''), moment), counter, nowMs)).toEqual(
      comparable(stateOf(budget, expected, moment), counter, nowMs),
    );
};
/** The fields of a hash; names of eight bytes that are no text are numbers. */
const fieldsOf = async (key: string): Promise<ReadonlyMap<string, Buffer>> => {
  const all = (await server.client.callBuffer('HGETALL', key)) as readonly Buffer[];
  const names = all.filter((_, at) => at % 2 === 0);
  return new Map(
    names.map((name, at) => [
      name.toString(name[0] === 0x3d ? 'utf8' : 'latin1'),
      all[2 * at + 1] as Buffer,
    ]),
  );
};

/** A hash has the record of the limits, and what is open: two fields for each, and their sum. */
const expectOpen = async (key: string, limiter: BudgetLimiter, counter: BudgetCounter, at: At) => {
  const fields = await fieldsOf(key);
  const sums = fields.get('s') ?? Buffer.alloc(25);
  const runs = sums[0] ?? 0;
  expectRecord(unpackRecord(sums.subarray(25 + 32 * runs)), limiter, counter, at.nowMs);
  expect(fields.size).toBe(2 * counter.open.size + (fields.has('s') ? 1 : 0));
  for (const [id, one] of counter.open) expectOne(fields, id, one);
  const [endMs = 0, held, open] = [1, 9, 17].map((from) => sums.readDoubleLE(from));
  expect([held, open]).toEqual([counter.held, counter.open.size]);
  expect(runs > 0).toBe(counter.open.size > 0);
  if (fields.size > 0) await expectEnd(endMs, key, { limiter, counter, at });
};

type OpenOne = ReturnType<BudgetCounter['open']['get']> & object;

const expectOne = (
  fields: ReadonlyMap<string, Buffer>,
  id: string,
  { hits, endMs, isMet }: OpenOne,
): void => {
  const own = fields.get(`=${id}`) as Buffer;
  expect([own.readDoubleLE(0), own[16]]).toEqual([hits, isMet ? 1 : 0]);
  const numbered = fields.get(own.toString('latin1', 8, 16)) as Buffer;
  expect(numbered.readDoubleLE(0)).toBeGreaterThanOrEqual(endMs);
  expect(numbered.readDoubleLE(8)).toBe(hits);
  expect(numbered.toString('utf8', 16)).toBe(`=${id}`);
};

interface Standing {
  readonly limiter: BudgetLimiter;
  readonly counter: BudgetCounter;
  readonly at: At;
}

const expectEnd = async (endMs: number, key: string, { limiter, counter, at }: Standing) => {
  const neededMs = Math.max(counter.lifeEndMs, counter.open.size > 0 ? counter.openEndMs : 0);
  if (!counter.hadStrays) expect(endMs).toBeGreaterThan(neededMs - SLACK_MS);
  // Some more, so that few asks move it; leases may end in another window than that of now.
  const longestMs = 2_200 * Math.max(...limiter.budget.entries.map((one) => one.periodSeconds));
  const mostMs =
    Math.max(neededMs, counter.askedEndMs, at.nowMs) + longestMs + 600_000 + 2 * SLACK_MS;
  counter.latestEndMs = Math.max(counter.latestEndMs, mostMs);
  if (!counter.hadStrays) expect(endMs).toBeLessThanOrEqual(counter.latestEndMs);
  // It is given to the key whenever it moves; time stands still for the server.
  expect(await server.client.pttl(key)).toBeGreaterThan(endMs - at.latestMs - SLACK_MS);
};

describeWithStores.each([true, false])(
  'the script of budgets, declaring keys: %s',
  (isDeclaringKeys) => {
    it.each([
      ['that reserve', budgetLimiters(true), true],
      ['that reserve, with one limit', ONE_LIMIT_GATES, true],
      ['without reservations', budgetLimiters(false), false],
    ] as const)(
      'counts as TypeScript does, step by step: rules %s',
      async (_, someLimiters, isReserving) => {
        await fc.assert(
          fc.asyncProperty(
            fc.tuple(someLimiters, someLimiters),
            budgetSteps(isReserving),
            async (limiters, steps) => {
              const key = freshKey();
              const counter = new BudgetCounter();
              const [one = '', other = ''] = limiters.map(({ budget }) => formOf(budget));
              // A log takes over from a window while it has no part of its own: see below.
              fc.pre(!isSucceeding(one, other) && !isSucceeding(other, one));
              const isOneForm = one === other;
              counter.hadStrays = !isOneForm;
              let nowMs = START_MS;
              let latestMs = nowMs;
              for (const step of steps) {
                // What is written again beside parts of another rule has drained by then, which a clock that goes back would show.
                nowMs += isOneForm ? step.pauseMs : Math.max(0, step.pauseMs);
                latestMs = Math.max(latestMs, nowMs);
                const limiter = limiters[step.rule] as BudgetLimiter;
                const increment = askOf(key, limiter, step);
                const nowSeconds = Math.floor(nowMs / 1_000) + step.aheadSeconds;
                const { states, failures } = await call([increment], {
                  nowMs,
                  nowSeconds,
                  isDeclaringKeys,
                });
                expect(failures).toBeUndefined();
                const asked = { ...increment, limiter, windowEndSeconds: 0 };
                const moment = { micros: nowMs * 1_000, nowSeconds };
                const expected = counter.apply(asked, moment);
                expect(comparable(states[0], counter, nowMs)).toEqual(
                  comparable(expected, counter, nowMs),
                );
                await expectKept(key, limiter, counter, { nowMs, latestMs });
              }
            },
          ),
          RUNS,
        );
      },
    );
  },
);

/** The short way: see `oneLimit`. */
describeWithStores('reservations of a rule with one limit', () => {
  const LEASE_MS = 600_000;
  const NOW_MS = 1_700_002_790_000; // Ten seconds before the hour ends.
  const MAX_EXACT = Number.MAX_SAFE_INTEGER;
  const limiterOf = (
    sort: 'window' | 'gcra' | 'sliding',
    isForced = false,
    periodSeconds = 3_600,
    limit = 10,
  ): BudgetLimiter => {
    const one = { sort, limit, burst: limit, periodSeconds, chargeDenied: false } as const;
    const reserve = { leaseMs: LEASE_MS, isReleased: false };
    return budgetLimiterOf({
      entries: [budgetEntry(one)],
      reserve,
      isForced,
    });
  };
  const asked = (key: string, limiter: BudgetLimiter, [letter, id, hits]: Asking) => {
    const mode = ({ r: 'reserve', s: 'settle', c: 'cancel' } as const)[letter];
    return ask(key, limiter, hits, { reservation: { mode, id, saysHits: mode === 'settle' } });
  };
  type Asking = readonly [letter: 'r' | 's' | 'c', id: string, hits: number];

  /** What is held, and by how many. */
  const openAt = async (key: string, limiter: BudgetLimiter, nowMs?: number) => {
    const { states } = await call([ask(key, limiter, 0)], { nowMs });
    const { held, open } = states[0] as BudgetState;
    return [held, open];
  };

  /** Plays it by the script and by TypeScript, each ask in a call of its own. */
  const playBoth = async (
    asks: readonly (readonly [BudgetLimiter, ...Asking])[],
    nowMs = NOW_MS,
  ) => {
    const key = freshKey();
    const counter = new BudgetCounter();
    for (const [limiter, ...one] of asks) {
      const increment = asked(key, limiter, one);
      const { states } = await call([increment], { nowMs });
      const moment = { micros: nowMs * 1_000, nowSeconds: nowMs / 1_000 };
      expect(states[0]).toEqual(
        counter.apply({ ...increment, limiter, windowEndSeconds: 0 }, moment),
      );
      await expectKept(key, limiter, counter, { nowMs, latestMs: nowMs });
    }
    return { key, counter };
  };

  it.each(['window', 'gcra', 'sliding'] as const)(
    'that were met again are not ended with nothing, by %s',
    async (sort) => {
      const limiter = limiterOf(sort);
      const { counter } = await playBoth([
        [limiter, 'r', 'a', 4],
        [limiter, 'r', 'a', 4],
        [limiter, 'c', 'a', 0],
        [limiter, 'r', 'b', 4],
        [limiter, 'c', 'b', 0],
        [limiter, 's', 'a', 2],
      ]);
      expect(counter.open.size).toBe(0);
    },
  );

  it.each(['window', 'gcra', 'sliding'] as const)(
    'stop at the largest sum that is exact, by %s',
    async (sort) => {
      const limiter = limiterOf(sort, true);
      const { counter } = await playBoth([
        [limiter, 'r', 'a', MAX_EXACT],
        [limiter, 's', 'a', MAX_EXACT],
        [limiter, 'r', 'b', 3],
        [limiter, 's', 'b', MAX_EXACT],
      ]);
      expect(counter.open.size).toBe(0);
    },
  );

  it('hold no more than the largest sum, and never less than nothing', async () => {
    const key = freshKey();
    const limiter = limiterOf('window', true);
    const heldAfter = async (one: Asking) => {
      await call([asked(key, limiter, one)]);
      // What is read next would mend a sum below 0.
      const sums = (await fieldsOf(key)).get('s') as Buffer;
      expect(sums.readDoubleLE(9)).toBeGreaterThanOrEqual(0);
      return openAt(key, limiter);
    };
    expect(await heldAfter(['r', 'a', MAX_EXACT])).toEqual([MAX_EXACT, 1]);
    expect(await heldAfter(['r', 'b', 5])).toEqual([MAX_EXACT, 2]);
    expect(await heldAfter(['r', 'c', 5])).toEqual([MAX_EXACT, 3]);
    expect(await heldAfter(['s', 'b', 0])).toEqual([MAX_EXACT - 5, 2]);
    expect(await heldAfter(['s', 'a', 0])).toEqual([0, 1]);
  });

  it.each([
    ['window', 10, 3_600_000],
    ['gcra', 10, 3_600_000],
    ['sliding', 10, 3_600_000],
    ['sliding', 100, 7_200_000],
  ] as const)(
    'are kept until a charge at the end of the lease is over, by %s of %s',
    async (sort, limit, afterMs) => {
      const { key } = await playBoth([[limiterOf(sort, false, 3_600, limit), 'r', 'a', limit]]);
      expect(await server.client.pttl(key)).toBeGreaterThan(LEASE_MS + afterMs);
    },
  );

  it('meet a count beyond the exact numbers: an error', async () => {
    const limiter = limiterOf('window');
    const { key } = await playBoth([
      [limiter, 'r', 'a', 4],
      [limiter, 's', 'a', 3],
    ]);
    const sums = (await fieldsOf(key)).get('s') as Buffer;
    sums.writeDoubleLE(2 ** 54, sums.length - 16);
    await server.client.hset(key, 's', sums);
    const { failures } = await call([asked(key, limiter, ['r', 'b', 1])], { nowMs: NOW_MS });
    expect(String(failures?.get(0))).toContain('not an integer');
    expect((await fieldsOf(key)).get('s')).toEqual(sums);
  });

  it('are kept until the window ends in which they are charged', async () => {
    const limiter = limiterOf('window');
    const [held, settled] = [[limiter, 'r', 'a', 0] as const, [limiter, 's', 'a', 5] as const];
    const { key } = await playBoth([held, settled], NOW_MS + 11_000);
    expect(await server.client.pttl(key)).toBeGreaterThan(3_599_000);
  });

  it('are in eight rows of numbers at most where the clock goes back again and again, and all end', async () => {
    const key = freshKey();
    const limiter = limiterOf('gcra');
    for (let at = 0; at < 10; at += 1)
      await call([asked(key, limiter, ['r', String(at), 1])], { nowMs: NOW_MS - at * 10_000 });
    expect((await fieldsOf(key)).get('s')?.[0]).toBe(8);
    expect(await openAt(key, limiter, NOW_MS - 90_000)).toEqual([10, 10]);
    expect(await openAt(key, limiter, NOW_MS + LEASE_MS)).toEqual([0, 0]);
    await call([asked(key, limiter, ['s', '3', 1])], { nowMs: NOW_MS + LEASE_MS });
    expect((await fieldsOf(key)).size).toBe(1);
  });

  it('are at most 100,000 of one counter', async () => {
    const key = freshKey();
    const limiter = limiterOf('gcra', true);
    const many = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => asked(key, limiter, ['r', String(from + at), 0]));
    for (let at = 0; at < 100_000; at += 10_000) await call(many(at, 10_000));
    const { states } = await call(many(100_000, 2));
    expect(states.map((state) => (state as BudgetState).open)).toEqual([100_000, 100_000]);
  });
});
