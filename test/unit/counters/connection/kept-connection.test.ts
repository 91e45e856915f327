import { concatMap, firstValueFrom, throwError, timer } from 'rxjs';
import {
  createKeptConnection,
  type OpenConnection,
} from '../../../../src/counters/connection/kept-connection';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** The times that attempts at a server which never answers are given. */
async function attemptsWith(timeoutMs: number): Promise<readonly number[]> {
  const attempts: number[] = [];
  const kept = createKeptConnection<OpenConnection>(
    {
      store: 'r1:6379',
      monotonicMs: () => jest.now(),
      random: () => 0.5,
      open(attemptMs) {
        attempts.push(attemptMs);
        const noAnswer = () => new Error('no answer in time');
        return firstValueFrom(timer(attemptMs).pipe(concatMap(() => throwError(noAnswer))));
      },
      onOpen: () => undefined,
      onAway: () => undefined,
      onEnd: () => undefined,
      onEvent: undefined,
    },
    { timeoutMs },
  );
  const subscription = kept.run$.subscribe();
  await jest.advanceTimersByTimeAsync(20_000);
  subscription.unsubscribe();
  return attempts.slice(0, 5);
}

it.each([
  [40, [750, 1_500, 2_000, 2_000, 2_000]],
  [300, [750, 1_500, 2_000, 2_000, 2_000]],
  [10_000, [750, 1_500, 3_000, 6_000, 10_000]],
])(
  'gives attempts their time, whatever calls have: with %i ms for a call',
  async (timeoutMs, expected) => {
    expect(await attemptsWith(timeoutMs)).toEqual(expected);
  },
);
