import type { Steps } from '../../../../src/core/steps';
import { createWorkScheduler } from '../../../../src/transport/debug/work/work-scheduler';

/** A scheduler whose turns and timers the test plays, on a clock that work moves. */
function play() {
  let nowMs = 0;
  const turns: (() => void)[] = [];
  const timers: { readonly go: () => void; readonly atMs: number }[] = [];
  const work = createWorkScheduler({
    monotonicMs: () => nowMs,
    nextTurn: (go) => turns.push(go),
    later: (go, ms) => timers.push({ go, atMs: nowMs + ms }),
  });
  const log: string[] = [];
  /** Takes so many steps of so many milliseconds each. */
  const task = (name: string, steps: number, stepMs: number, options: Partial<Options> = {}) => ({
    *run(): Steps<void> {
      for (let step = 0; step < steps; step += 1) {
        nowMs += stepMs;
        log.push(name);
        yield;
      }
      log.push(`${name} is done`);
    },
    isWanted: () => true,
    failed: (error: unknown) => log.push(String(error)),
    ...options,
  });
  /** One turn of the event loop: milliseconds that work took in it. */
  const turn = (): number => {
    const startMs = nowMs;
    turns.shift()?.();
    return nowMs - startMs;
  };
  /** Lets time pass until the next timer. */
  const wait = (): void => {
    const timer = timers.shift();
    if (timer === undefined) return;
    nowMs = timer.atMs;
    timer.go();
  };
  const advance = (ms: number) => (nowMs += ms);
  return { work, log, task, turn, turns, timers, wait, advance, now: () => nowMs };
}

interface Options {
  readonly isWanted: () => boolean;
  readonly isLarge: boolean;
}

const settled = () => new Promise(setImmediate);

it('never works for more than 5 ms between two turns of the event loop', () => {
  const { work, task, turn, log } = play();
  for (const name of ['a', 'b', 'c']) expect(work.begin(task(name, 30, 0.9))).toBeUndefined();
  const slices: number[] = [];
  while (!log.includes('c is done')) slices.push(turn());
  expect(Math.max(...slices)).toBeLessThan(5);
  expect(Math.min(...slices.slice(0, -1))).toBeGreaterThan(3);
});

it('does nothing in the turn in which it is asked', () => {
  const { work, task, log } = play();
  work.begin(task('a', 1, 1));
  expect(log).toEqual([]);
});

it('lets tasks go on by turns, so that a long one does not hold up a short one', () => {
  const { work, task, turn, log } = play();
  work.begin(task('long', 1_000, 1));
  work.begin(task('short', 3, 1));
  for (let i = 0; i < 3; i += 1) turn();
  expect(log).toContain('short is done');
});

it('takes half a second at once at most, then a tenth of the time', () => {
  const { work, task, turn, turns, wait, now, log } = play();
  work.begin(task('a', 2_000, 1));
  while (turns.length > 0) turn();
  expect(now()).toBeGreaterThan(500);
  expect(now()).toBeLessThan(570);
  const startMs = now();
  const doneBefore = log.length;
  for (let i = 0; i < 100; i += 1) {
    wait();
    while (turns.length > 0) turn();
  }
  const share = (log.length - doneBefore) / (now() - startMs);
  expect(share).toBeGreaterThan(0.09);
  expect(share).toBeLessThan(0.11);
});

it('refuses more when the time is used up, and says when to try again', () => {
  const { work, task, turn, turns, advance } = play();
  work.begin(task('a', 1, 900));
  while (turns.length > 0) turn();
  // 500 - 900 ms are left.
  expect(work.begin(task('b', 1, 1))).toBe(5);
  advance(3_000);
  expect(work.begin(task('b', 1, 1))).toBe(2);
  advance(1_010);
  expect(work.begin(task('b', 1, 1))).toBeUndefined();
});

it('has sixteen tasks at a time, four of them large', () => {
  const { work, task } = play();
  const large = () => work.begin(task('large', 1, 1, { isLarge: true }));
  for (let i = 0; i < 4; i += 1) expect(large()).toBeUndefined();
  expect(large()).toBe(1);
  for (let i = 0; i < 12; i += 1) expect(work.begin(task('small', 1, 1))).toBeUndefined();
  expect(work.begin(task('small', 1, 1))).toBe(1);
});

it('takes no time while a task waits, and lets the others work', async () => {
  const { work, task, turn, turns, log, advance } = play();
  let answer: () => void = () => undefined;
  const waiting = new Promise<void>((resolve) => (answer = resolve));
  function* run(): Steps<void> {
    log.push('asks');
    yield waiting;
    log.push('goes on');
  }
  work.begin({ ...task('', 0, 0), run });
  turn();
  advance(10_000);
  work.begin(task('other', 1, 1));
  while (turns.length > 0) turn();
  expect(log).toEqual(['asks', 'other', 'other is done']);
  answer();
  await settled();
  turn();
  expect(log.at(-1)).toBe('goes on');
});

it('hands what it waited for in vain to the task, and what that throws to its caller', async () => {
  const { work, task, turn, log } = play();
  function* run(): Steps<void> {
    yield Promise.reject(new Error('no store'));
  }
  work.begin({ ...task('', 0, 0), run });
  turn();
  await settled();
  turn();
  expect(log).toEqual(['Error: no store']);
});

it('ends a task that nothing waits for any more, and frees its place', () => {
  const { work, task, turn, log } = play();
  let isWanted = true;
  const all = Array.from({ length: 16 }, () => task('a', 100, 1, { isWanted: () => isWanted }));
  for (const one of all) work.begin(one);
  turn();
  isWanted = false;
  turn();
  expect(log.length).toBeLessThan(6);
  expect(work.begin(task('b', 1, 1))).toBeUndefined();
});

it('never refuses what is bounded by itself', () => {
  const { work, task, turn, turns, wait, log } = play();
  work.begin(task('a', 1, 2_000));
  turn();
  work.insist(task('events', 1, 1));
  expect(turns).toHaveLength(0);
  wait();
  expect(log.at(-1)).toBe('events is done');
});

it('keeps no process alive for work whose time has not come', () => {
  let nowMs = 0;
  const turns: (() => void)[] = [];
  const work = createWorkScheduler({
    monotonicMs: () => nowMs,
    nextTurn: (go) => turns.push(go),
  });
  work.insist({
    *run() {
      for (;;) {
        nowMs += 60_000;
        yield;
      }
    },
    isWanted: () => true,
    failed: () => undefined,
  });
  turns.shift()?.();
  // The next step is due in ten minutes, by a real timer: one that held the process would fail this suite at its end.
  expect([nowMs, turns]).toEqual([60_000, []]);
});
