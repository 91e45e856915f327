import { StoreError, type StoreErrorOptions } from '../../../../src/core/errors';
import type { CounterReply, Counters } from '../../../../src/core/ports';
import {
  createCircuitBreaker,
  type BreakerChange,
} from '../../../../src/counters/circuit-breaker/circuit-breaker';
import { withCircuitBreaker } from '../../../../src/counters/circuit-breaker/circuit-breaker';
import { batch, increment } from '../../../contract/counters.contract';

const REPLY: CounterReply = { after: [1], held: undefined, failures: undefined };
const asked = batch([increment('k')]);

/** A store whose answers the test gives, and a clock that it sets. */
function setUp() {
  let nowMs = 0;
  const waiting: { resolve: (reply: CounterReply) => void; reject: (error: Error) => void }[] = [];
  const changes: BreakerChange[] = [];
  let isClosed = false;
  const store: Counters = {
    add: () => new Promise((resolve, reject) => waiting.push({ resolve, reject })),
    close: () => {
      isClosed = true;
      return Promise.resolve();
    },
  };
  const counters = withCircuitBreaker(
    store,
    createCircuitBreaker({
      monotonicMs: () => nowMs,
      onChange: (change) => changes.push(change),
    }),
  );
  const add = () => counters.add(asked).catch((error: unknown) => error as StoreError);
  const failOne = async (
    code: StoreError['code'] = 'store_unavailable',
    options: StoreErrorOptions = {},
  ) => {
    const failing = add();
    waiting.shift()?.reject(new StoreError(code, 'it is away', options));
    return failing;
  };
  return {
    counters,
    changes,
    waiting,
    add,
    failOne,
    isClosed: () => isClosed,
    pass: (ms: number) => (nowMs += ms),
    async open() {
      for (let call = 0; call < 5; call += 1) await failOne();
    },
  };
}

it('answers at once and asks nobody while it is open', async () => {
  const { open, add, waiting, changes } = setUp();
  await open();
  expect(await add()).toMatchObject({
    code: 'store_unavailable',
    fault: 'breaker',
    message: 'circuit breaker open, counter store not called: it is away',
  });
  expect(waiting).toEqual([]);
  expect(changes).toEqual([{ kind: 'opened', reason: 'it is away' }]);
});

it('lets one call through after its wait, and all when that one succeeds', async () => {
  const { open, add, waiting, changes, pass } = setUp();
  await open();
  pass(50);
  const probe = add();
  expect(await add()).toMatchObject({ fault: 'breaker' });
  waiting.shift()?.resolve(REPLY);
  expect(await probe).toBe(REPLY);
  const next = add();
  waiting.shift()?.resolve(REPLY);
  expect(await next).toBe(REPLY);
  expect(changes.map(({ kind }) => kind)).toEqual(['opened', 'closed']);
});

it('waits again when the probe fails, and tells of one outage once', async () => {
  const { open, add, failOne, changes, pass } = setUp();
  await open();
  pass(50);
  expect(await failOne()).toMatchObject({ fault: 'store' });
  pass(99);
  expect(await add()).toMatchObject({ fault: 'breaker' });
  expect(changes).toHaveLength(1);
});

it('opens while calls wait for a store that hangs', async () => {
  const { add, pass, changes } = setUp();
  void add();
  pass(1_000);
  void add();
  pass(20);
  expect(await add()).toMatchObject({
    fault: 'breaker',
    message: 'circuit breaker open, counter store not called: the store does not answer',
  });
  expect(changes).toEqual([{ kind: 'opened', reason: 'the store does not answer' }]);
});

it.each(['answer', 'key', 'node'] as const)(
  'stays closed when errors are about %s: the store is there',
  async (fault) => {
    const { failOne, changes } = setUp();
    for (let call = 0; call < 20; call += 1) {
      expect(await failOne('store_unavailable', { fault })).toMatchObject({ fault });
    }
    expect(changes).toEqual([]);
  },
);

it('closes what stands behind it', async () => {
  const { counters, isClosed } = setUp();
  await counters.close();
  expect(isClosed()).toBe(true);
});
