import { createHook } from 'node:async_hooks';
import { NEVER } from 'rxjs';
import { StoreError } from '../../../../src/core/errors';
import type { Counters } from '../../../../src/core/ports';
import { leasedCounters } from '../../../support/lease-play/leased-counters';
import { createMemoryCounters } from '../../../../src/counters/memory/create-memory-counters';
import { createDecideBatch } from '../../../../src/decisions/decide-batch';
import { PLAIN_DECISIONS } from '../../../support/decider';
import { recordingResponder } from '../../../support/recording-responder';
import { descriptor, request } from '../../../support/requests';
import { rulesOf } from '../../../support/rules';

const LIMIT = { requestsPerUnit: 1_000, unit: 'YEAR', leased: true } as const;
const RULES = rulesOf('shop', [
  { key: 'denies', limit: LIMIT, onStoreError: 'deny' },
  { key: 'allows', limit: LIMIT, onStoreError: 'allow' },
  { key: 'fails', limit: LIMIT },
]);
const HITS = 30;
/** The hits of the last second, when a lease is asked for. */
const LEASED = HITS + 1;

/** An instance whose clocks stand, and a store that can be away. */
function start() {
  const clock = () => 1_795_240_200;
  const memory = createMemoryCounters({ clock });
  const store = { isAway: false, calls: 0 };
  const counters: Counters = {
    add: (batch) => {
      store.calls += 1;
      if (store.isAway) return Promise.reject(new StoreError('store_unavailable', 'away'));
      return Promise.resolve(memory.add(batch));
    },
    close: () => memory.close(),
  };
  const leased = leasedCounters(
    { plain: counters, counters, clock, monotonicMs: () => 0, wait: () => NEVER },
    {
      ...{ timeMs: 10_000, share: 0.5, instances: 1, minRate: 20, maxBytes: 100_000 },
      sendsApart: false,
    },
  );
  const decideBatch = createDecideBatch(
    {
      ...{ rules: { current: RULES }, counters: leased, clock, random: () => 0 },
      onFault: (error) => {
        throw error;
      },
    },
    PLAIN_DECISIONS,
  );
  const prepare = (key: string, hits = 1) => {
    const responder = recordingResponder();
    const asked = [
      { request: request('shop', [descriptor(`${key}=a`, { hits })]), responder, callId: 0 },
    ];
    const code = () => {
      const answer = responder.answers.get(0);
      return answer?.kind === 'decision' ? answer.overallCode : answer?.code;
    };
    return { decide: () => decideBatch(asked), code };
  };
  const ask = async (key: string, hits?: number): Promise<string | undefined> => {
    const { decide, code } = prepare(key, hits);
    await decide();
    return code();
  };
  const lease = async (key: string): Promise<void> => {
    for (const hits of [HITS, 1]) expect(await ask(key, hits)).toBe('OK');
  };
  return { store, prepare, ask, lease };
}

it('answers from a lease in the turn of the request, and makes no promise for it', async () => {
  const { store, prepare, lease } = start();
  await lease('fails');
  const { calls } = store;
  let promises = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') promises += 1;
    },
  });
  for (let at = 1; at < LEASED; at += 1) {
    const { decide, code } = prepare('fails');
    hook.enable();
    const decided = decide();
    hook.disable();
    expect(decided).not.toBeInstanceOf(Promise);
    expect(code()).toBe('OK');
  }
  expect([promises, store.calls]).toEqual([0, calls]);
});

it.each([
  ['denies', 'OVER_LIMIT'],
  ['allows', 'OK'],
  ['fails', 'store_unavailable'],
])(
  'while the store is away what is on lease is spent, and then a rule %s: %s',
  async (key, then) => {
    const { store, ask, prepare, lease } = start();
    await lease(key);
    store.isAway = true;
    for (let at = 0; at < LEASED; at += 1) expect(await ask(key)).toBe('OK');
    const { calls } = store;
    expect([await ask(key), await ask(key)]).toEqual([then, then]);
    expect(store.calls).toBe(calls + 2);

    // It is back: the next ask brings a lease.
    store.isAway = false;
    expect(await ask(key)).toBe('OK');
    const { decide, code } = prepare(key);
    expect(decide()).not.toBeInstanceOf(Promise);
    expect([code(), store.calls]).toEqual(['OK', calls + 3]);
  },
);

it('says that the store is away of a counter that never had a lease', async () => {
  const { store, ask, lease } = start();
  store.isAway = true;
  expect(await ask('fails', HITS)).toBe('store_unavailable');
  store.isAway = false;
  await lease('fails');
});
