import { Subscription } from 'rxjs';
import { createServerClock, type ServerClock } from '../../../../src/counters/redis/server-clock';
import type { RedisEvent } from '../../../../src/counters/redis/options';

const START_SECONDS = 1_700_000_000;

let subscription = Subscription.EMPTY;
let clock: ServerClock | undefined;
beforeEach(() => jest.useFakeTimers({ now: START_SECONDS * 1_000 }));
afterEach(() => {
  clock?.close();
  subscription.unsubscribe();
  jest.useRealTimers();
});

/** A server whose clock is so many seconds ahead; it answers questions with it, or not at all. */
function start() {
  const events: RedisEvent[] = [];
  const differences: number[] = [];
  let asked = 0;
  const server = { ahead: 0, answers: true };
  const now = () => jest.now() / 1_000;
  clock = createServerClock({
    store: 'r:1',
    clock: now,
    monotonicMs: () => jest.now(),
    random: () => 0.5,
    onEvent: (event) => events.push(event),
    onDifference: (seconds) => differences.push(seconds),
    readMicros() {
      asked += 1;
      return Promise.resolve(server.answers ? (now() + server.ahead) * 1_000_000 : undefined);
    },
  });
  subscription = clock.run$.subscribe();
  return { clock, events, differences, server, now, asked: () => asked };
}

const kinds = (events: readonly RedisEvent[]) => events.map(({ kind }) => kind);

it.each<readonly [string, number, number]>([
  ['ahead of the answer counts from the answer', 9, 4],
  ['behind the question counts from the question', -4, 4],
  ['within the time of the call does not differ', 3, 0],
])('a clock %s', (_, ahead, difference) => {
  const { clock: measured, differences, now } = start();
  const sentSeconds = now();
  jest.advanceTimersByTime(5_000);
  measured.note((sentSeconds + ahead) * 1_000_000, sentSeconds);
  expect(differences).toEqual([expect.closeTo(difference, 3)]);
});

it('a difference of seconds is told with its side, and so is its end; two seconds are none', () => {
  const { clock: measured, events, now } = start();
  measured.note((now() + 1.9) * 1_000_000, now());
  expect(events).toEqual([]);
  measured.note((now() - 30) * 1_000_000, now());
  measured.note((now() - 1.9) * 1_000_000, now());
  expect(events).toEqual([
    { kind: 'clock-differs', store: 'r:1', reason: 'its clock is 30.0 s behind ours' },
    { kind: 'clock-agrees', store: 'r:1' },
  ]);
});

it('however many batches see it, a difference is told each 10 s, and no end of what was not told', () => {
  const { clock: measured, events, now } = start();
  for (let call = 0; call < 2_500; call += 1) {
    const ahead = call % 2 === 0 ? 60 : 0;
    measured.note((now() + ahead) * 1_000_000, now());
    jest.advanceTimersByTime(10);
  }
  expect(kinds(events)).toEqual([
    'clock-differs',
    'clock-agrees',
    'clock-differs',
    'clock-agrees',
    'clock-differs',
    'clock-agrees',
  ]);
});

it('a server that only counts is asked at the start, and each 10 s while the clocks differ', async () => {
  const { clock: measured, events, server, asked } = start();
  server.ahead = 60;
  measured.compare();
  await jest.advanceTimersByTimeAsync(25_000);
  expect(kinds(events)).toEqual(['clock-differs', 'clock-differs', 'clock-differs']);
  server.ahead = 0;
  await jest.advanceTimersByTimeAsync(10_000);
  expect(kinds(events).at(-1)).toBe('clock-agrees');
  expect(asked()).toBe(4);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(asked()).toBe(4);
});

it('one that does not say its time differs no more and no less than before', async () => {
  const { clock: measured, events, differences, server } = start();
  server.answers = false;
  measured.compare();
  await jest.advanceTimersByTimeAsync(0);
  expect(differences).toEqual([]);
  server.answers = true;
  server.ahead = 60;
  measured.compare();
  await jest.advanceTimersByTimeAsync(0);
  server.answers = false;
  await jest.advanceTimersByTimeAsync(30_000);
  expect(kinds(events)).toEqual(['clock-differs']);
});

it('once closed, what late answers say of it is forgotten', () => {
  const { clock: measured, events, differences, now } = start();
  measured.close();
  measured.note((now() + 60) * 1_000_000, now());
  expect([events, differences]).toEqual([[], []]);
});
