import { readCoreMs, startStopwatch } from '../support/edge/core-time';

const WORK_MS = 50;

/** Computes until this thread has had a core for so long, which on a busy machine takes longer. */
function compute(ms: number): void {
  const end = readCoreMs() + ms;
  while (readCoreMs() < end);
}

/** A sleep, since to sleep is the very thing that the stopwatch has to count: no test guesses by it when something is done. */
function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

it('counts what a thread computes', () => {
  const elapsedMs = startStopwatch();
  const startedAtMs = performance.now();
  compute(WORK_MS);
  expect(elapsedMs()).toBeGreaterThan(WORK_MS - 5);
  expect(elapsedMs()).toBeLessThanOrEqual(performance.now() - startedAtMs + 1);
});

/**
 * The most of some rounds. Under load Linux 6.12 and later leave a thread that begins to sleep in the queue for up to its slice, and
 * count that as a wait for a core: not in every round.
 */
function mostOfRounds(round: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const elapsedMs = startStopwatch();
    round();
    return elapsedMs();
  });
  return Math.max(...times);
}

it('counts what a thread waits for', () => {
  const most = mostOfRounds(() => {
    sleep(WORK_MS);
  });
  expect(most).toBeGreaterThan(WORK_MS - 2);
});

it('counts what a thread waits for beside what it computes', () => {
  const most = mostOfRounds(() => {
    compute(WORK_MS / 10);
    sleep(WORK_MS * 5);
  });
  expect(most).toBeGreaterThan(WORK_MS * 5 - 2);
});
