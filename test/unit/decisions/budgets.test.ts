import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import type { CounterBatch, Responder } from '../../../src/core/ports';
import { createDecideBatch, type DecisionOptions } from '../../../src/decisions/decide-batch';
import { budgetOf, inFlight } from '../../support/budgets';
import { createDecider, PLAIN_DECISIONS } from '../../support/decider';
import { descriptor, request } from '../../support/requests';
import { rulesOf, type RuleSketch } from '../../support/rules';

/** A minute and an hour begin there. */
const START = 1_795_240_800;

const perSecond = { unit: 'SECOND', requestsPerUnit: 3 } as const;
const perMinute = { unit: 'MINUTE', requestsPerUnit: 10 } as const;
const perHour = { unit: 'HOUR', requestsPerUnit: 12, algorithm: 'sliding_window' } as const;
const bucket = { unit: 'MINUTE', requestsPerUnit: 60, burst: 20, algorithm: 'gcra' } as const;

const rules: readonly RuleSketch[] = [
  { key: 'user', ...budgetOf([perSecond, perMinute, perHour]) },
  { key: 'charged', ...budgetOf([perSecond, { ...perMinute, chargeDenied: true }]) },
  {
    key: 'named',
    ...budgetOf([
      { ...perSecond, name: 'burst' },
      { ...perMinute, name: 'daily' },
    ]),
  },
  { key: 'replacing', limit: { unit: 'HOUR', requestsPerUnit: 9, replaces: ['burst'] } },
  { key: 'tokens', ...budgetOf([perMinute], { reserve: {} }) },
  { key: 'paced', ...budgetOf([bucket], { reserve: {} }) },
  { key: 'lax', ...budgetOf([perMinute], { reserve: { leaseMs: 5_000, unsettled: 'release' } }) },
  { key: 'model', ...budgetOf([inFlight(2), perMinute, bucket], { reserve: { leaseMs: 5_000 } }) },
  { key: 'shadow', shadowMode: true, ...budgetOf([inFlight(1)]) },
  { key: 'flight', ...budgetOf([inFlight(2)]) },
  {
    key: 'blocked',
    ...budgetOf([{ ...perMinute, requestsPerUnit: 1 }], {
      block: { after: 2, withinMs: 10_000, forMs: 30_000, upToMs: 100_000 },
    }),
  },
];

interface Setting {
  readonly options?: Partial<DecisionOptions>;
  readonly sketches?: readonly RuleSketch[];
}

/** Decisions over counters in memory, by a clock that a test moves. */
function setUp({ options = {}, sketches = rules }: Setting = {}) {
  const time = { now: START };
  const clock = () => time.now;
  const counters = createMemoryCounters({ clock });
  const current = { current: rulesOf('d', sketches) };
  const decide = createDecider({ rules: current, counters, clock }, options);
  return { time, decide, counters, current };
}

type Decide = ReturnType<typeof setUp>['decide'];

const shown = async (decide: Decide, ...descriptors: readonly ReturnType<typeof descriptor>[]) => {
  const { answers } = await decide(request('d', descriptors));
  const [answer] = answers;
  if (answer?.kind !== 'decision') return answer?.message;
  return answer.statuses
    .map(({ code, currentLimit, limitRemaining, secondsUntilReset }) =>
      [code, currentLimit?.unit, limitRemaining, secondsUntilReset].join(' '),
    )
    .join(', ');
};

const ask = (key: string, hits?: number) => descriptor(`${key}=v`, { hits });
const reserve = (key: string, id: string, hits?: number) =>
  descriptor([`${key}=v`, `reserve=${id}`], { hits });
const settle = (key: string, id: string, hits?: number) =>
  descriptor([`${key}=v`, `settle=${id}`], { hits });

describe('a rule with several limits', () => {
  it('tells the limit with the smallest share left, of equals the shorter', async () => {
    const { decide, time } = setUp();
    expect(await shown(decide, ask('user'))).toBe('OK SECOND 2 1');
    expect(await shown(decide, ask('user'))).toBe('OK SECOND 1 1');
    time.now += 1;
    expect(await shown(decide, ask('user'))).toBe('OK SECOND 2 1');
    time.now += 1;
    expect(await shown(decide, ask('user', 3))).toBe('OK SECOND 0 1');
    time.now += 1;
    expect(await shown(decide, ask('user', 3))).toBe('OK SECOND 0 1');
    time.now += 1;
    expect(await shown(decide, ask('user', 0))).toBe('OK MINUTE 1 56');
  });

  it('charges no limit for what one of them refuses, and tells the one that refuses for longest', async () => {
    const { decide, time } = setUp();
    for (let second = 0; second < 3; second += 1) {
      expect(await shown(decide, ask('user', 3))).toBe('OK SECOND 0 1');
      time.now += 1;
    }
    expect(await shown(decide, ask('user', 2))).toBe('OVER_LIMIT MINUTE 0 57');
    expect(await shown(decide, ask('user', 1))).toBe('OK MINUTE 0 57');
    expect(await shown(decide, ask('user', 1))).toBe('OVER_LIMIT MINUTE 0 57');
    time.now = START + 60;
    expect(await shown(decide, ask('user', 2))).toMatch(/^OK /);
    // Of 12 an hour.
    expect(await shown(decide, ask('user', 1))).toMatch(/^OVER_LIMIT HOUR 0 /);
  });

  it('charges a limit that says so for what is refused', async () => {
    const { decide, time } = setUp();
    for (let time = 0; time < 3; time += 1) await shown(decide, ask('charged', 3));
    time.now += 1;
    expect(await shown(decide, ask('charged', 0))).toBe('OK MINUTE 1 59');
  });

  it('joins equal asks of one batch, each of which sees what came before it', async () => {
    const { decide } = setUp();
    const { answers } = await decide(
      ...Array.from({ length: 5 }, () => request('d', [ask('user')])),
    );
    const codes = answers.map((one) => (one?.kind === 'decision' ? one.overallCode : one?.kind));
    expect(codes).toEqual(['OK', 'OK', 'OK', 'OVER_LIMIT', 'OVER_LIMIT']);
  });

  it('gives hits back to all limits', async () => {
    const { decide } = setUp();
    await shown(decide, ask('user', 3));
    const back = descriptor('user=v', { hits: 2, isNegativeHits: true });
    expect(await shown(decide, back)).toBe('OK SECOND 2 1');
    expect(await shown(decide, ask('user', 2))).toBe('OK SECOND 0 1');
  });

  it('loses the limit that another rule of the request replaces by its name, and no other', async () => {
    const { decide } = setUp();
    const { answers } = await decide(request('d', [ask('named', 5), ask('replacing')]));
    expect(answers[0]).toMatchObject({
      statuses: [
        { code: 'OK', currentLimit: { name: 'daily' }, limitRemaining: 5 },
        { code: 'OK' },
      ],
    });
    expect(await shown(decide, ask('named', 4))).toBe('OVER_LIMIT SECOND 0 1');
  });

  it('counts what each limit refused, and the rule once', async () => {
    const { decide } = setUp();
    const { batchStats } = await decide(request('d', [ask('user', 11)]));
    expect(batchStats.rules).toMatchObject([{ metric: 'd.user', totalHits: 11, overLimit: 11 }]);
    expect(batchStats.budgets).toEqual([
      { metric: 'd.user.limit_second', figure: 'overOneLimit', by: 11 },
      { metric: 'd.user.limit_minute', figure: 'overOneLimit', by: 11 },
    ]);
  });

  it('lists all limits in headers, or the nearest', async () => {
    const policies = {
      policies: 'all',
      retryAfter: true,
      nearHeader: '',
      jitterPercent: 0,
      problemBody: false,
    } as const;
    const { decide } = setUp({ options: { policies } });
    const { answers } = await decide(request('d', [ask('user')]), request('d', [ask('flight', 0)]));
    expect(answers.map((one) => (one?.kind === 'decision' ? one.responseHeaders : one))).toEqual([
      [
        {
          key: 'RateLimit-Policy',
          value: '"3-per-second";q=3;w=1, "10-per-minute";q=10;w=60, "12-per-hour";q=12;w=3600',
        },
        {
          key: 'RateLimit',
          value: '"3-per-second";r=2;t=1, "10-per-minute";r=9;t=60, "12-per-hour";r=11;t=3600',
        },
      ],
      [
        { key: 'RateLimit-Policy', value: '"in_flight";q=2' },
        { key: 'RateLimit', value: '"in_flight";r=2' },
      ],
    ]);
    const nearest = setUp({ options: { policies: { ...policies, policies: 'nearest' } } });
    await shown(nearest.decide, ask('user', 3));
    const told = await nearest.decide(request('d', [ask('user', 3)]));
    expect(told.answers[0]).toMatchObject({
      responseHeaders: [
        { value: '"3-per-second";q=3;w=1' },
        { value: '"3-per-second";r=0;t=1' },
        { key: 'Retry-After', value: '1' },
      ],
    });
  });
});

describe('a reservation', () => {
  it('holds its hits until they are settled, and charges what it was', async () => {
    const { decide } = setUp();
    expect(await shown(decide, reserve('tokens', 'a', 6))).toBe('OK MINUTE 4 60');
    expect(await shown(decide, reserve('tokens', 'b', 5))).toBe('OVER_LIMIT MINUTE 0 1');
    expect(await shown(decide, settle('tokens', 'a', 2))).toBe('OK MINUTE 8 60');
    expect(await shown(decide, reserve('tokens', 'b', 5))).toBe('OK MINUTE 3 60');
    expect(await shown(decide, ask('tokens', 0))).toBe('OK MINUTE 3 60');
  });

  it('under gcra resets when what it holds would be free again, were it charged now', async () => {
    const { decide, time } = setUp();
    expect(await shown(decide, reserve('paced', 'a', 15))).toBe('OK MINUTE 5 15');
    time.now += 10;
    expect(await shown(decide, ask('paced', 0))).toBe('OK MINUTE 5 15');
    expect(await shown(decide, settle('paced', 'a', 6))).toBe('OK MINUTE 14 6');
    expect(await shown(decide, reserve('paced', 'b', 15))).toBe('OVER_LIMIT MINUTE 0 1');
  });

  it('is one for all calls with its id while it is open, and ends once', async () => {
    const { decide } = setUp();
    for (let time = 0; time < 3; time += 1)
      expect(await shown(decide, reserve('tokens', 'a', 6))).toBe('OK MINUTE 4 60');
    for (let time = 0; time < 3; time += 1)
      expect(await shown(decide, settle('tokens', 'a', 3))).toBe('OK MINUTE 7 60');
  });

  it('charges what it holds when nothing else is said, nothing for a negative count, and a debt if it must', async () => {
    const { decide } = setUp();
    await shown(decide, reserve('tokens', 'a', 6));
    expect(await shown(decide, settle('tokens', 'a'))).toBe('OK MINUTE 4 60');
    await shown(decide, reserve('tokens', 'b', 3));
    const negative = descriptor(['tokens=v', 'settle=b'], { hits: 5, isNegativeHits: true });
    expect(await shown(decide, negative)).toBe('OK MINUTE 4 60');
    await shown(decide, reserve('tokens', 'c', 3));
    expect(await shown(decide, settle('tokens', 'c', 50))).toBe('OK MINUTE 0 60');
    expect(await shown(decide, ask('tokens', 0))).toBe('OVER_LIMIT MINUTE 0 60');
  });

  it('of nothing asks only for something that is left', async () => {
    const { decide } = setUp();
    await shown(decide, ask('tokens', 9));
    expect(await shown(decide, reserve('tokens', 'a', 0))).toBe('OK MINUTE 1 60');
    expect(await shown(decide, settle('tokens', 'a', 4))).toBe('OK MINUTE 0 60');
    expect(await shown(decide, reserve('tokens', 'b', 0))).toBe('OVER_LIMIT MINUTE 0 60');
  });

  it('holds across a window, and is charged to the one in which it is settled', async () => {
    const { decide, time } = setUp();
    time.now += 59;
    await shown(decide, reserve('tokens', 'a', 6));
    time.now += 2;
    expect(await shown(decide, ask('tokens', 0))).toBe('OK MINUTE 4 59');
    expect(await shown(decide, settle('tokens', 'a', 7))).toBe('OK MINUTE 3 59');
  });

  it('is charged when its lease is over, in the window of that moment, or given up', async () => {
    const { decide, time } = setUp();
    await shown(decide, reserve('tokens', 'a', 6), reserve('lax', 'a', 6));
    time.now += 599;
    expect(await shown(decide, ask('tokens', 0))).toBe('OK MINUTE 4 1');
    expect(await shown(decide, ask('lax', 0))).toBe('OK MINUTE 10 1');
    time.now += 2;
    const { batchStats } = await decide(request('d', [ask('tokens', 0)]));
    expect(batchStats.budgets).toEqual([{ metric: 'd.tokens', figure: 'lapsed', by: 6 }]);
    expect(await shown(decide, ask('tokens', 0))).toBe('OK MINUTE 4 59');
    time.now += 60;
    expect(await shown(decide, ask('tokens', 0))).toBe('OK MINUTE 10 59');
  });

  it('charges nothing to a window that is gone', async () => {
    const { decide, time } = setUp();
    await shown(decide, reserve('tokens', 'a', 6));
    time.now += 661;
    expect(await shown(decide, ask('tokens', 0))).toBe('OK MINUTE 10 59');
  });

  it('counts what it held, charged and did not know', async () => {
    const { decide } = setUp();
    const { batchStats } = await decide(
      request('d', [reserve('tokens', 'a', 4)]),
      request('d', [settle('tokens', 'a', 3)]),
      request('d', [settle('tokens', 'a', 3)]),
      request('d', [settle('tokens', 'x')]),
    );
    expect(batchStats.budgets).toEqual([
      { metric: 'd.tokens', figure: 'reserved', by: 4 },
      { metric: 'd.tokens', figure: 'settled', by: 3 },
      { metric: 'd.tokens', figure: 'settledUnknown', by: 1 },
    ]);
    expect(batchStats.rules.map(({ totalHits }) => totalHits)).toEqual([4, 0, 0, 0]);
  });

  it.each([
    ['', 'the value of reserve must have 1 to 256 bytes; found 0'],
    ['ü'.repeat(129), 'the value of reserve must have 1 to 256 bytes; found 258'],
  ])('is refused with an id of a wrong length', async (id, expected) => {
    const { decide } = setUp();
    expect(await shown(decide, reserve('tokens', id))).toBe(expected);
    expect(await shown(decide, reserve('tokens', 'ü'.repeat(128)))).toBe('OK MINUTE 9 60');
  });

  it('takes no hits beyond 2^53 - 1', async () => {
    const { decide } = setUp();
    const one = descriptor('tokens=v', { hits: 2n ** 53n });
    expect(await shown(decide, one)).toBe(
      'hits_addend 9007199254740992 of a descriptor is above 9007199254740991, the maximum under the rule d.tokens',
    );
  });

  /** A reserve whose caller is gone when its answer comes; `meanwhile`: after the store has held its hits. */
  const reserveAndGo = async (
    { current, counters, time }: ReturnType<typeof setUp>,
    hasLeft: () => boolean,
    meanwhile: () => Promise<unknown> = () => Promise.resolve(),
  ) => {
    const batches: CounterBatch[] = [];
    const decideBatch = createDecideBatch(
      {
        rules: current,
        counters: {
          async add(batch) {
            const reply = await counters.add(batch);
            if (batches.push(batch) === 1) await meanwhile();
            return reply;
          },
        },
        clock: () => time.now,
        random: () => 0,
        onFault: (error) => {
          throw error;
        },
      },
      PLAIN_DECISIONS,
    );
    const responder: Responder = { answer: () => false, hasLeft };
    const asked = request('d', [reserve('tokens', 'a', 4)]);
    const { abandoned } = await decideBatch([{ request: asked, responder, callId: 1 }]);
    return { abandoned, batches: batches.length };
  };

  it('ends uncharged when its caller left before its answer', async () => {
    const all = setUp();
    let isGone = false;
    const leave = () => {
      isGone = true;
      return Promise.resolve();
    };
    const told = await reserveAndGo(all, () => isGone, leave);
    expect(told).toEqual({ abandoned: 1, batches: 2 });
    expect(await shown(all.decide, ask('tokens', 0))).toBe('OK MINUTE 10 60');
  });

  it('stays when its caller waited until its time was over: the request goes on, and will be settled', async () => {
    const all = setUp();
    expect(await reserveAndGo(all, () => false)).toEqual({ abandoned: 1, batches: 1 });
    expect(await shown(all.decide, ask('tokens', 0))).toBe('OK MINUTE 6 60');
  });

  it('is not sent when its caller has left before', async () => {
    const all = setUp();
    expect(await reserveAndGo(all, () => true)).toEqual({ abandoned: 1, batches: 0 });
    expect(all.counters.liveKeys).toBe(0);
  });

  it('stays when another call with its id was answered before its first caller left', async () => {
    const all = setUp();
    let isGone = false;
    const told = await reserveAndGo(
      all,
      () => isGone,
      async () => {
        expect(await shown(all.decide, reserve('tokens', 'a', 4))).toBe('OK MINUTE 6 60');
        isGone = true;
      },
    );
    expect(told).toEqual({ abandoned: 1, batches: 2 });
    expect(await shown(all.decide, ask('tokens', 0))).toBe('OK MINUTE 6 60');
  });
});

describe('requests in flight', () => {
  it('are as many as there are slots, whatever their hits', async () => {
    const { decide } = setUp();
    expect(await shown(decide, reserve('flight', 'a', 50))).toBe('OK UNKNOWN 1 0');
    expect(await shown(decide, reserve('flight', 'b', 0))).toBe('OK UNKNOWN 0 0');
    expect(await shown(decide, reserve('flight', 'c'))).toBe('OVER_LIMIT UNKNOWN 0 1');
    expect(await shown(decide, ask('flight', 5))).toBe('OK UNKNOWN 0 0');
    expect(await shown(decide, settle('flight', 'a', 7))).toBe('OK UNKNOWN 1 0');
    expect(await shown(decide, reserve('flight', 'c'))).toBe('OK UNKNOWN 0 0');
  });

  it('take a slot and hold hits of other limits, or neither', async () => {
    const { decide } = setUp();
    expect(await shown(decide, reserve('model', 'a', 4))).toBe('OK UNKNOWN 1 0');
    expect(await shown(decide, reserve('model', 'b', 7))).toBe('OVER_LIMIT MINUTE 0 1');
    expect(await shown(decide, reserve('model', 'b', 6))).toBe('OK UNKNOWN 0 0');
    expect(await shown(decide, reserve('model', 'c', 1))).toBe('OVER_LIMIT UNKNOWN 0 1');
    expect(await shown(decide, settle('model', 'a', 0))).toBe('OK MINUTE 4 60');
    expect(await shown(decide, ask('model', 4))).toBe('OK MINUTE 0 60');
  });

  it('end with their leases', async () => {
    const { decide, time } = setUp();
    await shown(decide, reserve('model', 'a', 1), reserve('model', 'b', 1));
    time.now += 5.5;
    expect(await shown(decide, reserve('model', 'c', 1))).toBe('OK UNKNOWN 1 0');
  });

  it('of a rule in shadow mode take a slot though none is left', async () => {
    const { decide } = setUp();
    const taken = [reserve('shadow', 'a'), reserve('shadow', 'b'), reserve('shadow', 'c')];
    expect(await shown(decide, ...taken)).toBe('OK UNKNOWN 0 0, OK UNKNOWN 0 1, OK UNKNOWN 0 1');
    expect(await shown(decide, settle('shadow', 'a'), settle('shadow', 'b'))).toBe(
      'OK UNKNOWN 0 0, OK UNKNOWN 0 0',
    );
    expect(await shown(decide, settle('shadow', 'c'))).toBe('OK UNKNOWN 1 0');
  });
});

describe('a block', () => {
  it('begins with so many refusals in its span, refuses all, and is not lengthened', async () => {
    const { decide, time } = setUp();
    await shown(decide, ask('blocked'));
    expect(await shown(decide, ask('blocked'))).toBe('OVER_LIMIT MINUTE 0 60');
    time.now += 11;
    // The first span is over.
    expect(await shown(decide, ask('blocked'))).toBe('OVER_LIMIT MINUTE 0 49');
    time.now += 9;
    const { batchStats } = await decide(request('d', [ask('blocked')]));
    expect(batchStats.budgets).toEqual([{ metric: 'd.blocked', figure: 'blocks', by: 1 }]);
    expect(await shown(decide, ask('blocked', 0))).toBe('OVER_LIMIT MINUTE 0 40');
    time.now += 41;
    expect(await shown(decide, ask('blocked'))).toBe('OK MINUTE 0 59');
  });

  it('is told with its rest, or with the wait for a limit that would refuse for longer, never with that for one that would not', async () => {
    const block = { forMs: 30_000 };
    const { decide, time } = setUp({
      sketches: [
        { key: 'short', ...budgetOf([perHour, perSecond], { block }) },
        { key: 'long', ...budgetOf([perSecond, { ...perMinute, requestsPerUnit: 3 }], { block }) },
      ],
    });
    await shown(decide, ask('short', 4), ask('long', 3), ask('long', 1));
    // The sliding hour has room for more, and the second is over long before the block.
    expect(await shown(decide, ask('short'))).toBe('OVER_LIMIT HOUR 0 30');
    time.now += 5;
    expect(await shown(decide, ask('short', 0))).toBe('OVER_LIMIT HOUR 0 25');
    expect(await shown(decide, ask('long'))).toBe('OVER_LIMIT MINUTE 0 55');
  });

  it('takes twice as long each time, up to its bound, and begins anew after as long without refusals', async () => {
    const { decide, time } = setUp();
    const refuseTwice = async () => {
      await shown(decide, ask('blocked', 2));
      return shown(decide, ask('blocked', 2));
    };
    time.now += 59.5;
    expect(await refuseTwice()).toBe('OVER_LIMIT MINUTE 0 30');
    time.now += 30;
    expect(await refuseTwice()).toBe('OVER_LIMIT MINUTE 0 60');
    time.now += 60;
    expect(await refuseTwice()).toBe('OVER_LIMIT MINUTE 0 100');
    time.now += 200;
    expect(await refuseTwice()).toBe('OVER_LIMIT MINUTE 0 30');
  });
});
