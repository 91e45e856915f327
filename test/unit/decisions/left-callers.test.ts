import { StoreError } from '../../../src/core/errors';
import type { Answer, CounterBatch, CounterReply, Increment } from '../../../src/core/ports';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { createDecideBatch } from '../../../src/decisions/decide-batch';
import { budgetOf, inFlight } from '../../support/budgets';
import { PLAIN_DECISIONS } from '../../support/decider';
import { descriptor, request } from '../../support/requests';
import { rulesOf } from '../../support/rules';

const rules = rulesOf('d', [
  { key: 'tokens', ...budgetOf([{ unit: 'HOUR', requestsPerUnit: 10 }], { reserve: {} }) },
  { key: 'slots', ...budgetOf([inFlight(2)]) },
  { key: 'plain', limit: [10, 'HOUR'] },
]);

interface Caller {
  readonly asks: readonly string[];
  /** It has left before its request is decided, or while the store counts it, or its time was over before its answer. */
  readonly leaves?: 'before' | 'meanwhile' | 'late';
  readonly domain?: string;
}

/** One batch: what each caller was answered, what reached the store, and how many callers count as gone. */
async function decide(
  callers: readonly Caller[],
  change: (reply: CounterReply, batch: CounterBatch) => CounterReply = (reply) => reply,
) {
  const counters = createMemoryCounters({ clock: () => 1_000 });
  const batches: CounterBatch[] = [];
  const answers: (Answer | undefined)[] = [];
  let isCounted = false;
  const decideBatch = createDecideBatch(
    {
      rules: { current: rules },
      counters: {
        async add(batch) {
          batches.push(batch);
          const reply = await counters.add(batch);
          isCounted = true;
          return batches.length === 1 ? change(reply, batch) : reply;
        },
      },
      clock: () => 1_000,
      random: () => 0,
      onFault(error) {
        throw error;
      },
    },
    PLAIN_DECISIONS,
  );
  const { abandoned } = await decideBatch(
    callers.map(({ asks, leaves, domain = 'd' }, callId) => ({
      request: request(domain, asks.map((ask) => ask.split(' ')).map(toDescriptor)),
      callId,
      responder: {
        answer(id, answer) {
          if (answers[id] !== undefined) throw new Error('a caller was answered twice');
          answers[id] = answer;
          return leaves !== 'late' && !hasLeft(leaves, isCounted);
        },
        hasLeft: () => hasLeft(leaves, isCounted),
      },
    })),
  );
  return { abandoned, answers, batches: batches.map(({ increments }) => increments.map(shown)) };
}

const hasLeft = (leaves: Caller['leaves'], isCounted: boolean): boolean =>
  leaves === 'before' || (leaves === 'meanwhile' && isCounted);

/** Entries, and `*0` for no hits. */
const toDescriptor = (words: readonly string[]) =>
  descriptor(
    words.filter((word) => word !== '*0'),
    words.includes('*0') ? { hits: 0 } : {},
  );

const shown = ({ entries, reservation }: Increment): string =>
  [
    ...entries.map(({ key, value }) => `${key}=${value}`),
    reservation?.mode ?? 'hits',
    reservation?.id,
  ]
    .filter((word) => word !== undefined)
    .join(' ');

it('drops the request of a caller that left before, where it would reserve, and answers it', async () => {
  const { abandoned, answers, batches } = await decide([
    { asks: ['plain=a', 'tokens=a reserve=1'], leaves: 'before' },
    { asks: ['tokens=b reserve=2'] },
    { asks: ['tokens=c reserve=3'], leaves: 'before' },
  ]);
  expect(batches).toEqual([['tokens=b reserve 2']]);
  expect(abandoned).toBe(2);
  expect(answers).toEqual([
    { kind: 'failure', code: 'draining', message: 'the caller went away' },
    expect.objectContaining({ kind: 'decision' }),
    { kind: 'failure', code: 'draining', message: 'the caller went away' },
  ]);
});

it('sends what a caller that left asked without a reservation: it may have passed meanwhile', async () => {
  const { batches, answers } = await decide([
    { asks: ['plain=a'], leaves: 'before' },
    { asks: ['tokens=a settle=1'], leaves: 'before' },
    { asks: ['tokens=a reserve=1 x=y'], leaves: 'before' },
    { asks: [], leaves: 'before' },
  ]);
  expect(batches).toEqual([['plain=a hits', 'tokens=a settle 1']]);
  expect(answers.map((answer) => answer?.kind)).toEqual([
    ...['decision', 'decision', 'decision'],
    'failure',
  ]);
  expect(answers[3]).not.toMatchObject({ message: 'the caller went away' });
});

it('ends what a caller opened that left before its answer, and nothing of other callers', async () => {
  const { batches, abandoned } = await decide([
    { asks: ['tokens=a reserve=1'] },
    { asks: ['tokens=x reserve=8'], leaves: 'meanwhile', domain: '' },
    { asks: ['plain=a', 'none=a', 'tokens=b reserve=2', 'slots=b reserve=3'], leaves: 'meanwhile' },
    { asks: ['tokens=c reserve=4'] },
    { asks: ['tokens=c settle=4', 'plain=b'], leaves: 'meanwhile' },
  ]);
  expect(batches).toEqual([
    expect.arrayContaining(['tokens=a reserve 1', 'tokens=b reserve 2', 'slots=b reserve 3']),
    ['tokens=b cancel 2', 'slots=b cancel 3'],
  ]);
  expect(abandoned).toBe(2);
});

it('keeps what a caller opened that waited until its time was over: the request goes on, and will be settled', async () => {
  const { batches, abandoned } = await decide([{ asks: ['tokens=a reserve=1'], leaves: 'late' }]);
  expect([batches, abandoned]).toEqual([[['tokens=a reserve 1']], 1]);
});

it('ends a reservation of nothing too', async () => {
  const { batches } = await decide([{ asks: ['tokens=a reserve=1 *0'], leaves: 'meanwhile' }]);
  expect(batches[1]).toEqual(['tokens=a cancel 1']);
});

it('ends nothing that was refused, held back or not counted', async () => {
  const leaving = (...asks: readonly string[]): Caller => ({ asks, leaves: 'meanwhile' });
  const refused = await decide([
    { asks: ['slots=a reserve=1', 'slots=a reserve=2'] },
    leaving('slots=a reserve=3'),
  ]);
  expect(refused.batches).toHaveLength(1);
  const held = await decide([leaving('tokens=a reserve=1', 'slots=a reserve=1')], (reply) => ({
    ...reply,
    held: [true, false],
  }));
  expect(held.batches[1]).toEqual(['slots=a cancel 1']);
  const failed = await decide([leaving('tokens=a reserve=1', 'slots=a reserve=1')], (reply) => ({
    ...reply,
    failures: new Map([[1, new StoreError('store_unavailable', 'no')]]),
  }));
  expect(failed.batches[1]).toEqual(['tokens=a cancel 1']);
});
