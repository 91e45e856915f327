import type { Steps } from '../../../core/steps';

/** Length of a slice, after which the event loop turns; the last step may add its own fraction of a millisecond. */
const SLICE_MS = 4;
/** Concurrent tasks, including those that wait for a store or a client. */
const MAX_TASKS = 16;
/** Concurrent large tasks, which occupy memory until their client has read the answer. */
const MAX_LARGE = 4;

/** A request of an operator. */
export interface Task {
  readonly run: () => Steps<void>;
  /** False once nothing waits for it any more: the task ends. */
  readonly isWanted: () => boolean;
  readonly failed: (error: unknown) => void;
  /** Whether it occupies much memory until its client has read it. Default: false. */
  readonly isLarge?: boolean;
}

export interface WorkSchedulerDeps {
  readonly monotonicMs: () => number;
  /** Default: setImmediate. */
  readonly nextTurn?: (go: () => void) => unknown;
  /** Default: a timer that keeps no process alive. */
  readonly later?: (go: () => void, ms: number) => unknown;
}

interface Running extends Task {
  readonly steps: Steps<void>;
  /** The rejection of the promise that it waited for. */
  rejected: { readonly error: unknown } | undefined;
}

export function createWorkScheduler({
  monotonicMs,
  nextTurn = setImmediate,
  later = (go, ms) => setTimeout(go, ms).unref(),
}: WorkSchedulerDeps) {
  const allowance = createAllowance(monotonicMs);
  const running = new Set<Running>();
  /** Tasks that wait only for their turn. */
  const ready: Running[] = [];
  let isScheduled = false;

  const schedule = (): void => {
    if (isScheduled || ready.length === 0) return;
    isScheduled = true;
    const waitMs = allowance.waitMs(SLICE_MS);
    if (waitMs === 0) nextTurn(turn);
    else later(turn, waitMs);
  };
  const wake = (task: Running): void => {
    ready.push(task);
    schedule();
  };
  /** Whether the task can continue at once. */
  const step = (task: Running): boolean => {
    try {
      const waitsFor = advance(task);
      if (waitsFor === 'nothing') return true;
      if (waitsFor === 'over') running.delete(task);
      else
        waitsFor.then(
          () => {
            wake(task);
          },
          (error: unknown) => {
            task.rejected = { error };
            wake(task);
          },
        );
    } catch (error) {
      running.delete(task);
      task.failed(error);
    }
    return false;
  };
  const turn = (): void => {
    isScheduled = false;
    const startMs = monotonicMs();
    let task: Running | undefined;
    do {
      task = ready.shift();
      while (task !== undefined && step(task)) {
        if (monotonicMs() - startMs < SLICE_MS) continue;
        ready.push(task);
        break;
      }
    } while (ready.length > 0 && monotonicMs() - startMs < SLICE_MS);
    allowance.spend(monotonicMs() - startMs);
    schedule();
  };
  const start = (task: Task): void => {
    const started = { ...task, steps: task.run(), rejected: undefined };
    running.add(started);
    wake(started);
  };
  const isFull = ({ isLarge = false }: Task): boolean => {
    if (running.size >= MAX_TASKS) return true;
    return isLarge && [...running].filter((one) => one.isLarge).length >= MAX_LARGE;
  };

  return {
    /** Undefined: the task has started. A number: it is refused, and may be retried after this many seconds. */
    begin(task: Task): number | undefined {
      const waitMs = allowance.waitMs(SLICE_MS);
      if (waitMs > 0 || isFull(task)) return Math.max(1, Math.ceil(waitMs / 1_000));
      start(task);
      return undefined;
    },
    /** As `begin`, for a task with bounds of its own: never refused. */
    insist: start,
  };
}

/**
 * Runs operators' tasks beside the decisions: one at a time, in turns, in slices of 5 ms with a turn of the event loop between
 * them, and altogether for a tenth of the time. Tasks beyond that are refused, and running ones are slowed down.
 */
export type WorkScheduler = ReturnType<typeof createWorkScheduler>;

function advance(task: Running): Promise<unknown> | 'nothing' | 'over' {
  const { steps, rejected } = task;
  if (!task.isWanted()) {
    steps.return();
    return 'over';
  }
  task.rejected = undefined;
  const { done, value } = rejected === undefined ? steps.next() : steps.throw(rejected.error);
  if (done === true) return 'over';
  return value ?? 'nothing';
}

/** The share of the time for tasks. */
const SHARE = 0.1;
/** Cap of unused time. */
const BURST_MS = 500;

/** Milliseconds of work: a token bucket that fills with time and empties with work. */
function createAllowance(monotonicMs: () => number) {
  let leftMs = BURST_MS;
  let filledMs = monotonicMs();
  const fill = (): void => {
    const nowMs = monotonicMs();
    leftMs = Math.min(BURST_MS, leftMs + (nowMs - filledMs) * SHARE);
    filledMs = nowMs;
  };
  return {
    spend(workMs: number) {
      fill();
      leftMs -= workMs;
    },
    /** Time until this much work is allowed; 0: now. */
    waitMs(workMs: number) {
      fill();
      return leftMs > 0 ? 0 : (workMs - leftMs) / SHARE;
    },
  };
}

/** Serializes work, so that only one memory-intensive task exists at a time. */
export function createTurns(): (run: () => Steps<void>) => Steps<void> {
  let last: Promise<unknown> = Promise.resolve();
  return function* (run) {
    const before = last;
    let end: () => void = () => undefined;
    last = Promise.all([before, new Promise<void>((resolve) => (end = resolve))]);
    try {
      yield before;
      yield* run();
    } finally {
      end();
    }
  };
}
