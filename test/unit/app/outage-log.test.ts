import { Subscription } from 'rxjs';
import { createOutageLog, type OutageLog } from '../../../src/app/outage-log';
import { createRecordingLogger } from '../../support/recording-logger';

const LINES = { level: 'error', failing: 'calls fail', ended: 'calls work' } as const;

let subscription = Subscription.EMPTY;
beforeEach(() => jest.useFakeTimers());
afterEach(() => {
  subscription.unsubscribe();
  jest.useRealTimers();
});

function start() {
  const { logger, lines } = createRecordingLogger();
  const log = createOutageLog({ logger, monotonicMs: () => jest.now() });
  subscription = log.run$.subscribe();
  const said = () => lines.map(({ level, message, fields }) => ({ level, message, ...fields }));
  return { log, said };
}

const fail = (log: OutageLog, reason: string, times = 1, name = 'calls') => {
  log.failed(name, LINES, { reason }, times);
};

it('writes the first failure, then a line a minute with how many there were, then the end', () => {
  const { log, said } = start();
  for (let second = 0; second < 150; second++) {
    fail(log, second < 100 ? 'refused' : 'no answer', 2);
    jest.advanceTimersByTime(1_000);
  }
  log.succeeded('calls');
  jest.advanceTimersByTime(10_000);
  const level = 'error';
  expect(said()).toEqual([
    { level, message: 'calls fail', reason: 'refused', failures: 2 },
    { level, message: 'calls fail', reason: 'refused', failures: 118, seconds: 60 },
    { level, message: 'calls fail', reason: 'no answer', failures: 82, seconds: 100 },
    { level, message: 'calls fail', reason: 'no answer', failures: 38, seconds: 120 },
    { level, message: 'calls work', failures: 300, seconds: 152 },
  ]);
});

it('says a new reason at once, at most one in 5 s, and lists the newest', () => {
  const { log, said } = start();
  const reasons = ['closed by the server', 'NOAUTH', 'WRONGPASS', 'ERR max number of clients'];
  for (const reason of reasons) {
    fail(log, reason);
    expect(log.open()).toMatchObject([{ reason: { fields: { reason } } }]);
    jest.advanceTimersByTime(1_000);
  }
  expect(said()).toMatchObject([{ reason: 'closed by the server' }, { reason: 'NOAUTH' }]);
  jest.advanceTimersByTime(2_000);
  expect(said().at(-1)).toMatchObject({ reason: 'ERR max number of clients', failures: 2 });
  jest.advanceTimersByTime(4_000);
  expect(said()).toHaveLength(3);
});

it('takes reasons that differ in a number for the same', () => {
  const { log, said } = start();
  for (const reason of ['no answer within 750 ms', 'no answer within 1500 ms']) fail(log, reason);
  jest.advanceTimersByTime(10_000);
  expect(said()).toHaveLength(1);
});

it('follows no longer what is gone', () => {
  const { log, said } = start();
  fail(log, 'refused');
  expect(log.removed('calls')).toBe(true);
  expect(log.removed('calls')).toBe(false);
  expect(log.open()).toEqual([]);
  jest.advanceTimersByTime(120_000);
  expect(said()).toHaveLength(1);
  fail(log, 'refused');
  expect(said()).toHaveLength(2);
});

it('says nothing of what works, and nothing after it was closed', () => {
  const { log, said } = start();
  log.succeeded('calls');
  fail(log, 'refused');
  log.close();
  fail(log, 'refused');
  jest.advanceTimersByTime(120_000);
  expect(said().map(({ message }) => message)).toEqual(['calls fail']);
});

it('follows outages by their names, each on its own, and 256 at most', () => {
  const { log, said } = start();
  for (let i = 0; i <= 256; i++) fail(log, 'refused', 1, `node ${String(i)}`);
  for (let i = 0; i <= 256; i++) log.succeeded(`node ${String(i)}`);
  jest.advanceTimersByTime(2_000);
  expect(said().filter(({ message }) => message === 'calls fail')).toHaveLength(257);
  expect(said().filter(({ message }) => message === 'calls work')).toHaveLength(256);
});
