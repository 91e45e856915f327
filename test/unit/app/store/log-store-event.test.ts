import { Subscription } from 'rxjs';
import { logMemcachedEvent, logRedisEvent } from '../../../../src/app/store/log-store-event';
import { createOutageLog } from '../../../../src/app/outage-log';
import type { MemcachedEvent } from '../../../../src/counters/memcached/options';
import type { RedisEvent } from '../../../../src/counters/redis/options';
import { createRecordingLogger } from '../../../support/recording-logger';

let subscription = Subscription.EMPTY;
beforeEach(() => jest.useFakeTimers());
afterEach(() => {
  subscription.unsubscribe();
  jest.useRealTimers();
});

function start() {
  const { logger, lines } = createRecordingLogger();
  const outages = createOutageLog({ logger, monotonicMs: () => jest.now() });
  subscription = outages.run$.subscribe();
  return { logger, outages, lines };
}

const reason = 'no answer';

it.each<readonly [string, RedisEvent, RedisEvent, string]>([
  [
    'a sentinel',
    { kind: 'sentinel-failed', store: 's:1', reason },
    { kind: 'sentinel-works', store: 's:1' },
    'the sentinel s:1 names the master again',
  ],
  [
    'a clock',
    { kind: 'clock-differs', store: 'r:1', reason },
    { kind: 'clock-agrees', store: 'r:1' },
    'the clocks of this machine and of the store at r:1 agree again',
  ],
  [
    'the slots of a cluster',
    { kind: 'slots-unknown', store: 'c:1', reason },
    { kind: 'slots-known', store: 'c:1' },
    'the slot map of c:1 is available again',
  ],
])(
  '%s that fails is told at once, each minute with how often, and at the end',
  (_, failed, works, ended) => {
    const { logger, outages, lines } = start();
    for (let second = 0; second < 90; second += 1) {
      logRedisEvent(logger, outages, failed);
      jest.advanceTimersByTime(1_000);
    }
    logRedisEvent(logger, outages, works);
    jest.advanceTimersByTime(10_000);
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn']);
    expect(lines.map(({ fields }) => fields)).toEqual([
      { reason, failures: 1 },
      { reason, failures: 59, seconds: 60 },
      { failures: 90, seconds: 92 },
    ]);
    expect(lines[1]?.message).toBe(lines[0]?.message);
    expect(lines[2]?.message).toBe(ended);
    expect(outages.open()).toEqual([]);
  },
);

it.each<readonly [string, MemcachedEvent, MemcachedEvent, string]>([
  [
    'an SRV record',
    { kind: 'unresolved', store: '_m.test', reason, nextAttemptMs: 1 },
    { kind: 'resolved', store: '_m.test' },
    'the memcached nodes of _m.test are resolved again',
  ],
  [
    'an addition',
    { kind: 'not-added', store: 'm:1', reason, hits: 1 },
    { kind: 'added-again', store: 'm:1' },
    'hits are added to memcached m:1 again',
  ],
])('%s that failed is well again at the level of its failure', (_, failed, works, ended) => {
  const { logger, outages, lines } = start();
  logMemcachedEvent(logger, outages, failed);
  logMemcachedEvent(logger, outages, works);
  jest.advanceTimersByTime(10_000);
  expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn']);
  expect(lines[1]?.message).toBe(ended);
  expect(outages.open()).toEqual([]);
});

it('hits that memcached loses are told each time with how many, all of them at the end, and stand in the list', () => {
  const { logger, outages, lines } = start();
  for (let second = 0; second < 90; second += 1) {
    logMemcachedEvent(logger, outages, { kind: 'not-added', store: 'm:1', reason, hits: 25 });
    jest.advanceTimersByTime(1_000);
  }
  expect(outages.open()).toMatchObject([{ reason: { fields: { reason, hits: 25 } } }]);
  logMemcachedEvent(logger, outages, { kind: 'added-again', store: 'm:1' });
  jest.advanceTimersByTime(10_000);
  expect(lines.map(({ message, fields }) => ({ message, fields }))).toEqual([
    ...Array.from({ length: 90 }, () => ({
      message: 'hits were answered but could not be added to memcached m:1',
      fields: { reason, hits: 25 },
    })),
    { message: 'hits are added to memcached m:1 again', fields: { failures: 2_250, seconds: 92 } },
  ]);
});

it('a memcached node that fails and leaves ends its outages, with one line and no timer', () => {
  const { logger, outages, lines } = start();
  const store = 'm:1';
  logMemcachedEvent(logger, outages, { kind: 'left', store });
  expect(lines).toEqual([]);
  const away = { kind: 'unreachable', store, reason, attempts: 1, nextAttemptMs: 1 } as const;
  logMemcachedEvent(logger, outages, away);
  logMemcachedEvent(logger, outages, { kind: 'not-added', store, reason, hits: 1 });
  expect(outages.open()).toHaveLength(2);
  logMemcachedEvent(logger, outages, { kind: 'left', store });
  expect(outages.open()).toEqual([]);
  expect(jest.getTimerCount()).toBe(0);
  expect(lines.at(-1)?.message).toBe('memcached at m:1 was failing and is no longer in use');
  expect(lines).toHaveLength(3);
});

it('a node that leaves takes the outage of its clock along, which is no failure', () => {
  const { logger, outages, lines } = start();
  logRedisEvent(logger, outages, { kind: 'clock-differs', store: 'r:1', reason });
  logRedisEvent(logger, outages, { kind: 'left', store: 'r:1' });
  expect(outages.open()).toEqual([]);
  expect(lines).toHaveLength(1);
});
