import { StoreError } from '../../../src/core/errors';
import type { CounterBatch, CounterReply } from '../../../src/core/ports';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import type { DecisionOptions } from '../../../src/decisions/decide-batch';
import { createDecider } from '../../support/decider';
import { descriptor, request } from '../../support/requests';
import { rulesOf, type RuleSketch } from '../../support/rules';

const gcra = { algorithm: 'gcra', unit: 'HOUR', requestsPerUnit: 10 } as const;
const guarded = { ...gcra, algorithm: 'fixed_window', chargeDenied: false } as const;

const rules: readonly RuleSketch[] = [
  { key: 'gcra', limit: gcra },
  { key: 'sliding', limit: { ...gcra, algorithm: 'sliding_window' } },
  { key: 'local', limit: { ...gcra, burst: 9 }, onStoreError: 'local' },
  { key: 'localPlain', limit: guarded, onStoreError: 'local' },
  { key: 'allow', limit: { ...gcra, burst: 3 }, onStoreError: 'allow' },
  { key: 'deny', limit: { ...gcra, unitMultiplier: 2 }, onStoreError: 'deny' },
];

/** Decisions on a store that replies so, at a time that stands still. */
function setUp(
  add: (batch: CounterBatch) => Promise<CounterReply>,
  options: Partial<DecisionOptions> = {},
) {
  const clock = () => 1_795_240_201.5;
  const faults: unknown[] = [];
  const decide = createDecider(
    {
      rules: { current: rulesOf('d', rules) },
      counters: { add },
      localCounters: createMemoryCounters({ clock }),
      clock,
      onFault: (error) => faults.push(error),
    },
    options,
  );
  return { faults, decide };
}

const hit = (key: string, hits = 1) => descriptor(`${key}=v`, { hits });
const one = (key: string, hits = 1) => request('d', [hit(key, hits)]);

const OVER = 'OVER_LIMIT';

/** `code remaining` of every status of every answer. */
const shown = (answers: Awaited<ReturnType<ReturnType<typeof setUp>['decide']>>['answers']) =>
  answers.map((answer) =>
    answer?.kind === 'decision'
      ? answer.statuses
          .map(({ code, limitRemaining }) => `${code} ${String(limitRemaining)}`)
          .join()
      : answer?.kind,
  );

describe('when the store fails', () => {
  const add = () => Promise.reject(new StoreError('store_unavailable', 'redis is away'));

  it('on_store_error: local counts here, with the share of an instance of limit and burst', async () => {
    const { decide } = setUp(add, { failureReplicas: 3 });
    const asks = Array.from({ length: 4 }, () => one('local'));
    expect(shown((await decide(...asks)).answers)).toEqual(['OK 2', 'OK 1', 'OK 0', `${OVER} 0`]);
    const { answers } = await decide(one('local'));
    // A third of 10 per hour, rounded down: the next hit fits after twenty minutes.
    expect(answers).toMatchObject([{ statuses: [{ secondsUntilReset: 1_200 }] }]);
    expect(shown((await decide(one('localPlain', 4), one('localPlain', 3))).answers)).toEqual([
      `${OVER} 0`,
      'OK 0',
    ]);
  });

  it('on_store_error: local holds back too', async () => {
    const { decide } = setUp(add, { holdBack: true });
    const { answers } = await decide(request('d', [hit('local', 10), hit('localPlain', 2)]));
    expect(shown(answers)).toEqual([`${OVER} 0,OK 10`]);
  });

  it('allow says that all fits, deny that nothing does', async () => {
    const { decide } = setUp(add);
    const { answers } = await decide(one('allow'), one('deny'));
    expect(shown(answers)).toEqual(['OK 3', `${OVER} 0`]);
    expect(answers).toMatchObject([
      { statuses: [{ secondsUntilReset: 599 }] },
      { statuses: [{ secondsUntilReset: 599 }] },
    ]);
  });
});

it('fails alone what failed alone', async () => {
  const full = new StoreError('store_unavailable', 'not ours', { fault: 'key' });
  const { decide } = setUp(() =>
    Promise.resolve({
      after: [0, 0],
      held: undefined,
      failures: new Map([[0, full]]),
      states: [undefined, { used: 0, previous: 0, elapsed: 0 }],
    }),
  );
  const { answers } = await decide(one('gcra'), one('sliding'));
  expect(shown(answers)).toEqual(['failure', 'OK 9']);
});

it('a store that does not know algorithms is a fault, never a count', async () => {
  const add = () => Promise.resolve({ after: [1], held: undefined, failures: undefined });
  const { decide, faults } = setUp(add);
  expect((await decide(one('gcra'))).answers).toMatchObject([
    { kind: 'failure', code: 'internal' },
  ]);
  expect(String(faults[0])).toContain('does not support the algorithm of the rule d.gcra');
});
