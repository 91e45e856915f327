import { StoreError } from '../../../src/core/errors';
import type { DecisionRequest } from '../../../src/core/model';
import type { BatchTracer, CounterBatch, CounterReply, Responder } from '../../../src/core/ports';
import { compileRules } from '../../../src/core/rules/compile';
import type { Rules } from '../../../src/core/rules/rules';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { createDecideBatch, type DecisionOptions } from '../../../src/decisions/decide-batch';
import type { DecisionRecord } from '../../../src/core/decision/decision-record';
import type { DecisionLog } from '../../../src/decisions/log-decisions';
import { createOverLimitCache } from '../../../src/counters/over-limit-cache';
import { withOverLimitCache } from '../../../src/counters/with-over-limit-cache';
import { createDecider, decisionOf, PLAIN_DECISIONS } from '../../support/decider';
import { descriptor, request } from '../../support/requests';
import { definitionsOf, rulesOf } from '../../support/rules';

const rules = rulesOf('shop', [
  { key: 'user', limit: [2, 'HOUR'], metadata: { owner: 'team' } },
  { key: 'free', limit: { unlimited: true } },
  { key: 'dark', limit: [2, 'HOUR'], shadowMode: true },
  { key: 'quota', limit: [2, 'HOUR'], quotaMode: true },
]);

interface Setting {
  readonly rules?: Rules | undefined;
  readonly options?: Partial<DecisionOptions>;
  readonly log?: DecisionLog;
  readonly add?: (batch: CounterBatch) => Promise<CounterReply>;
  readonly tracer?: BatchTracer;
}

/** Decides one batch whose caller takes its answers or not. */
async function decideFor(answer: Responder['answer'], requests: readonly DecisionRequest[]) {
  const decideBatch = createDecideBatch(
    {
      rules: { current: rules },
      counters: createMemoryCounters({ clock: () => 0 }, { maxKeys: 10 }),
      clock: () => 0,
      random: () => 0,
      onFault: (error) => {
        throw error;
      },
    },
    PLAIN_DECISIONS,
  );
  const batchStats = await decideBatch(
    requests.map((each, callId) => ({ request: each, responder: { answer }, callId })),
  );
  return { batchStats };
}

/** Decides one batch against a store that answers each increment with its own hits. */
async function decide(requests: readonly DecisionRequest[], setting: Setting = {}) {
  const faults: unknown[] = [];
  const batches: CounterBatch[] = [];
  const storeErrors: StoreError[] = [];
  const echo = (batch: CounterBatch): Promise<CounterReply> =>
    Promise.resolve({
      after: batch.increments.map(({ hits }) => Number(hits)),
      held: undefined,
      failures: undefined,
    });
  const decideBatch = createDecider(
    {
      rules: { current: 'rules' in setting ? setting.rules : rules },
      counters: {
        add: (batch) => {
          batches.push(batch);
          return (setting.add ?? echo)(batch);
        },
      },
      clock: () => 1_795_240_201.5,
      log: setting.log,
      tracer: setting.tracer,
      onStoreError: (error) => storeErrors.push(error),
      onFault: (error) => faults.push(error),
    },
    setting.options,
  );
  return { ...(await decideBatch(...requests)), batches, faults, storeErrors };
}

it('asks the store once for a whole batch, and hears of no error', async () => {
  const requests = [request('shop', ['user=ann']), request('shop', ['user=ann', 'dark=bob'])];
  const { batches, storeErrors } = await decide(requests);
  expect(batches).toMatchObject([{ increments: [{ hits: 2 }, { hits: 1 }] }]);
  expect(storeErrors).toEqual([]);
});

it('holds one counter against each of two limits that requests of a batch bring for it', async () => {
  const limited = (requestsPerUnit: number, hits?: number) =>
    request('shop', [descriptor('user=ann', { hits, limit: { requestsPerUnit, unit: 3 } })]);
  const clock = () => 1_795_240_201;
  const cache = createOverLimitCache(
    { statistics: { gauge: () => () => true } },
    { sizeBytes: 1_000_000 },
  );
  const counters = withOverLimitCache(createMemoryCounters({ clock }), cache);
  const decideBatch = createDecider({ rules: { current: rules }, counters, clock });
  await decideBatch(limited(5, 6));
  const { answers } = await decideBatch(limited(5), limited(100), limited(5));
  expect(answers.map((answer) => decisionOf(answer).overallCode)).toEqual([
    'OVER_LIMIT',
    'OK',
    'OVER_LIMIT',
  ]);
});

it('charges together the requests of a domain that says so, and none of another one', async () => {
  const clock = () => 0;
  const sketches = definitionsOf([
    { key: 'user', limit: [2, 'MINUTE'] },
    { key: 'team', limit: [3, 'MINUTE'] },
  ]);
  const current = compileRules([
    { domain: 'together', rules: sketches, isChargedTogether: true },
    { domain: 'apart', rules: sketches },
  ]);
  const decide = createDecider({
    rules: { current },
    counters: createMemoryCounters({ clock }),
    clock,
  });
  const both = (domain: string) => request(domain, ['user=a', 'team=t']);
  await decide(both('apart'), both('together'), both('apart'));
  await decide(both('apart'), both('together'), both('together'));
  const { answers } = await decide(request('apart', ['team=t']), request('together', ['team=t']));
  expect(answers).toMatchObject([
    { statuses: [{ code: 'OVER_LIMIT' }] },
    { statuses: [{ code: 'OK', limitRemaining: 0 }] },
  ]);
});

it('says that there are no rules', async () => {
  const { answers, batchStats } = await decide([request('shop', ['user=a'])], { rules: undefined });
  expect(answers).toMatchObject([{ kind: 'failure', code: 'no_rules' }]);
  expect(batchStats).toMatchObject({ serviceErrors: 1, storeErrors: 0 });
});

it('refuses a senseless request and decides the others of its batch', async () => {
  const { answers, batchStats } = await decide([request('', ['a=b']), request('shop', ['user=a'])]);
  expect(answers).toMatchObject([
    { kind: 'failure', code: 'invalid_request', message: 'rate limit domain must not be empty' },
    { kind: 'decision', overallCode: 'OK' },
  ]);
  expect(batchStats.serviceErrors).toBe(1);
});

it('says nothing of an error of the store that is none of its own', async () => {
  const add = () => Promise.reject(new Error('password is hunter2'));
  const { answers } = await decide([request('shop', ['user=a'])], { add });
  expect(answers[0]).toEqual({
    kind: 'failure',
    code: 'store_unavailable',
    message: 'the counter store failed',
  });
});

it('counts every digit of hits that no number can hold', async () => {
  const hits = 9_007_199_254_740_993n;
  const { batchStats } = await decide([request('shop', [descriptor('user=a', { hits })])]);
  const exact = batchStats.rules.reduce((sum, { totalHits }) => sum + BigInt(totalHits), 0n);
  expect(exact).toBe(hits);
});

it('counts the decisions whose callers went away, and no failure', async () => {
  const { batchStats } = await decideFor(
    () => false,
    [request('shop', ['user=a']), request('shop', ['user=b']), request('', [])],
  );
  expect(batchStats).toMatchObject({ requests: 3, abandoned: 2, serviceErrors: 1 });
});

it('answers a fault of ours to everybody, once, and reports it', async () => {
  const broken = { domains: undefined, limitCount: 0 } as unknown as Rules;
  const { answers, faults } = await decide([request('shop', ['user=a']), request('', [])], {
    rules: broken,
  });
  const message = 'the decision failed, see the log';
  expect(answers).toMatchObject([
    { code: 'internal', message },
    { code: 'internal', message },
  ]);
  expect(faults).toHaveLength(1);
});

it('answers each call once when what comes after the answers fails, and reports that', async () => {
  const answered = jest.fn(() => {
    throw new Error('the log failed');
  });
  const log = { isWanted: () => true, write: answered };
  const { answers, batchStats, faults } = await decide([request('shop', ['user=a'])], { log });
  expect(answers).toMatchObject([{ kind: 'decision', overallCode: 'OK' }]);
  expect(batchStats.rules).toHaveLength(1);
  expect(faults).toEqual([new Error('the log failed')]);
});

/** Counters of which hits on lease answer those of one value. */
const leasing = ({ increments }: CounterBatch): Promise<CounterReply> =>
  Promise.resolve({
    after: increments.map(() => 1),
    held: undefined,
    failures: undefined,
    leased: increments.map(({ key }) => key.includes('_a_')),
  });

describe('the trace of a batch', () => {
  const traced = async (requests: readonly DecisionRequest[], setting: Setting = {}) => {
    const steps: string[] = [];
    const trace = {
      matched: (increments: number) => steps.push(`matched ${String(increments)}`),
      counted: () => steps.push('counted'),
      answered: (answers: readonly { readonly kind: string }[], leased?: readonly number[]) =>
        steps.push(
          `answered ${answers.map(({ kind }) => kind).join()}`,
          ...(leased === undefined ? [] : [`leased ${leased.join()}`]),
        ),
    };
    await decide(requests, { ...setting, tracer: { begin: () => trace } });
    return steps;
  };

  it.each<[string, readonly DecisionRequest[], Setting, readonly string[]]>([
    ['goes by the store', [request('shop', ['user=a'])], {}, ['matched 1', 'counted']],
    [
      'says nothing of a store that nothing is asked of',
      [request('shop', ['free=1'])],
      {},
      ['matched 0'],
    ],
  ])('%s', async (_, requests, setting, steps) => {
    expect(await traced(requests, setting)).toEqual([...steps, 'answered decision']);
  });

  it('has how many descriptors of each request hits on lease answered', async () => {
    const requests = [
      request('shop', ['user=a', 'none=1', 'user=b']),
      request('', []),
      request('shop', ['user=b']),
      request('shop', ['user=a', 'user=a']),
    ];
    expect((await traced(requests, { add: leasing })).at(-1)).toBe('leased 1,0,0,2');
  });

  it('has what each request is refused with', async () => {
    const requests = [request('shop', ['user=a']), request('shop', ['user=b'])];
    expect(await traced(requests, { rules: undefined })).toEqual(['answered failure,failure']);
  });
});

describe('the decision log', () => {
  const logged = async (requests: readonly DecisionRequest[], setting: Setting = {}) => {
    const records: DecisionRecord[] = [];
    const wanted: boolean[] = [];
    const log = {
      isWanted: (isRefused: boolean) => {
        wanted.push(isRefused);
        return true;
      },
      write: (record: DecisionRecord) => records.push(record),
    };
    await decide(requests, { ...setting, log });
    return { wanted, records };
  };

  it('takes every decision with the rules that it met, and no failure', async () => {
    const { wanted, records } = await logged([
      request('shop', ['user=a', 'nobody=x']),
      request('', []),
      request('shop', [descriptor('user=b', { hits: 3 })]),
    ]);
    expect(wanted).toEqual([false, true]);
    expect(records).toHaveLength(2);
    expect(records).toMatchObject([
      { time: '2026-11-21T05:50:01.500Z', metrics: ['shop.user', undefined], isShadow: false },
      {
        metrics: ['shop.user'],
        isShadow: false,
        isQuota: false,
        decision: { overallCode: 'OVER_LIMIT' },
      },
    ]);
  });

  it('says of each descriptor whether hits on lease answered it, and nothing where none did', async () => {
    const { records } = await logged(
      [
        request('shop', ['nobody=x', 'user=a']),
        request('', []),
        request('shop', ['user=b']),
        request('shop', ['user=a', 'user=c']),
      ],
      { add: leasing },
    );
    expect(records.map(({ leased }) => leased)).toEqual([[false, true], undefined, [true, false]]);
  });

  it('takes nothing of a request that the store failed', async () => {
    const add = () => Promise.reject(new StoreError('store_timeout', 'late'));
    expect(await logged([request('shop', ['user=a'])], { add })).toEqual({
      wanted: [],
      records: [],
    });
  });
});
