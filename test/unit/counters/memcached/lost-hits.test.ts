import { StoreError } from '../../../../src/core/errors';
import { createLostHits } from '../../../../src/counters/memcached/node-part';
import type { MemcachedEvent } from '../../../../src/counters/memcached/options';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const OUT_OF_MEMORY = new StoreError('store_unavailable', 'out of memory');

function start() {
  const events: MemcachedEvent[] = [];
  const lostHits = createLostHits('m:1', (event) => events.push(event));
  return { lostHits, events };
}

const ADDED_AGAIN = { kind: 'added-again', store: 'm:1' };
const notAdded = (hits: number) => ({
  kind: 'not-added',
  store: 'm:1',
  reason: 'out of memory',
  hits,
});

it('are told at once, then once a second, all of them', () => {
  const { lostHits, events } = start();
  for (let ms = 0; ms < 3_500; ms += 1) {
    lostHits.lost(OUT_OF_MEMORY, 1);
    jest.advanceTimersByTime(1);
  }
  jest.advanceTimersByTime(60_000);
  expect(events).toEqual([1, 999, 1_000, 1_000, 500].map(notAdded));
});

it('of one command are told by their number, given back ones too', () => {
  const { lostHits, events } = start();
  lostHits.lost(OUT_OF_MEMORY, 7);
  lostHits.lost(OUT_OF_MEMORY, -2);
  lostHits.lost(OUT_OF_MEMORY, 3n);
  jest.advanceTimersByTime(1_000);
  expect(events).toEqual([7, 5].map(notAdded));
});

it('are told before the end', () => {
  const { lostHits, events } = start();
  lostHits.lost(OUT_OF_MEMORY, 1);
  lostHits.lost(OUT_OF_MEMORY, 4);
  lostHits.close();
  expect(events).toEqual([1, 4].map(notAdded));
  expect(jest.getTimerCount()).toBe(0);
});

it('end with the first that is added, which is told once', () => {
  const { lostHits, events } = start();
  lostHits.added();
  lostHits.lost(OUT_OF_MEMORY, 1);
  lostHits.added();
  lostHits.added();
  expect(events).toEqual([notAdded(1), ADDED_AGAIN]);
});

it('that come and go are told at most once a second, and their end after them', () => {
  const { lostHits, events } = start();
  for (let ms = 0; ms < 1_500; ms += 1) {
    lostHits.lost(OUT_OF_MEMORY, 1);
    lostHits.added();
    jest.advanceTimersByTime(1);
  }
  jest.advanceTimersByTime(60_000);
  expect(events).toEqual([
    ...[notAdded(1), ADDED_AGAIN],
    ...[notAdded(999), ADDED_AGAIN],
    ...[notAdded(500), ADDED_AGAIN],
  ]);
});
