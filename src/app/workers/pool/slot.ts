import type { FromWorker, ToWorker } from '../messages';

export interface WorkerProcess {
  /** Never throws; messages to a dead process are lost. */
  send(message: ToWorker): void;
  kill(signal: NodeJS.Signals): void;
}

export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Starts worker number `worker`; reports its messages, and once how it ended. */
export type Fork = (
  worker: number,
  on: {
    readonly message: (message: FromWorker) => void;
    readonly end: (end: WorkerEnd) => void;
  },
) => WorkerProcess;

export interface SlotDeps {
  readonly fork: Fork;
  readonly monotonicMs: () => number;
  /** No other slot has a process: until there is one here, none listens. */
  readonly isOnlyProcess: () => boolean;
}

export interface SlotEvents {
  readonly message: (message: FromWorker) => void;
  /** It died; the next one starts in `restartMs`, undefined while the service stops. */
  readonly ended: (end: WorkerEnd, restartMs: number | undefined) => void;
  readonly hangs: () => void;
}

const FIRST_RESTART_MS = 100;
const LAST_RESTART_MS = 5_000;
/** A process that lived longer than this did not die of its start. */
const GOOD_LIFE_MS = 10_000;
/** Seconds of silence after which a worker counts as hanging; a starting one has not reported yet. */
const SILENT_SECONDS = 5;
const STARTING_SECONDS = 30;
/** Time that a worker needs to end beyond that for its calls: counters, traces, last statistics. */
const END_MS = 2_500;

/** One worker slot: a process, its successor when it dies, and its end when it hangs. */
export function createSlot(
  worker: number,
  { fork, monotonicMs, isOnlyProcess: isAlone }: SlotDeps,
  events: SlotEvents,
) {
  let current: WorkerProcess | undefined;
  let state: 'starting' | 'up' | 'dead' = 'dead';
  let startedMs = 0;
  let restartMs = FIRST_RESTART_MS;
  let silentTicks = 0;
  let restarts = 0;
  let restart: NodeJS.Timeout | undefined;
  let isRetired = false;
  const waiting = new Set<() => void>();

  const nextRestart = (): number => {
    if (monotonicMs() - startedMs >= GOOD_LIFE_MS) restartMs = FIRST_RESTART_MS;
    const chosen = restartMs;
    restartMs = Math.min(restartMs * 2, LAST_RESTART_MS);
    return isAlone() ? FIRST_RESTART_MS : chosen;
  };
  const ended = (end: WorkerEnd): void => {
    current = undefined;
    state = 'dead';
    const afterMs = isRetired ? undefined : nextRestart();
    if (afterMs !== undefined) {
      restarts += 1;
      restart = setTimeout(start, afterMs);
    }
    events.ended(end, afterMs);
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  const start = (): void => {
    startedMs = monotonicMs();
    silentTicks = 0;
    state = 'starting';
    current = fork(worker, {
      message(message) {
        silentTicks = 0;
        state = 'up';
        events.message(message);
      },
      end: ended,
    });
  };
  return {
    worker,
    get state() {
      return state;
    },
    /** How often it died and got a successor. */
    get restarts() {
      return restarts;
    },
    start,
    send: (message: ToWorker) => {
      if (state === 'up') current?.send(message);
    },
    /** Called every second. */
    tick() {
      // Ticks, not the clock: while the owner itself is stalled, messages are unread.
      if (current === undefined) return;
      silentTicks += 1;
      const patience = state === 'up' ? SILENT_SECONDS : STARTING_SECONDS;
      if (silentTicks === patience) {
        events.hangs();
        current.kill('SIGABRT');
      } else if (silentTicks > patience) current.kill('SIGKILL');
    },
    /** Starts no more successors; settles when there is no process. */
    retire(): Promise<void> {
      isRetired = true;
      clearTimeout(restart);
      if (current === undefined) return Promise.resolve();
      return new Promise((resolve) => waiting.add(resolve));
    },
    kill(signal: NodeJS.Signals) {
      current?.kill(signal);
    },
  };
}

export type Slot = ReturnType<typeof createSlot>;

/** Lets all workers answer their calls in flight and end; those that do not within `withinMs` and END_MS are killed. */
export async function drain(slots: readonly Slot[], withinMs: number): Promise<void> {
  const ended = Promise.all(slots.map((slot) => slot.retire()));
  for (const slot of slots) {
    if (slot.state === 'up') slot.send({ kind: 'drain', withinMs });
    else slot.kill('SIGKILL');
  }
  const late = setTimeout(() => {
    for (const slot of slots) slot.kill('SIGKILL');
  }, withinMs + END_MS);
  await ended;
  clearTimeout(late);
}

const COLLECT_WITHIN_MS = 200;

/** Collects the counts of all workers, so that a scrape or a flush shows them. */
export function createCollection(slots: readonly Slot[]) {
  let id = 0;
  let missing = new Set<number>();
  let running: Promise<void> | undefined;
  let settle: () => void = () => undefined;

  const answered = (worker: number): void => {
    if (missing.delete(worker) && missing.size === 0) settle();
  };
  const collect = (): Promise<void> => {
    id += 1;
    missing = new Set();
    for (const slot of slots) {
      if (slot.state !== 'up') continue;
      missing.add(slot.worker);
      slot.send({ kind: 'collect', id });
    }
    if (missing.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        settle();
      }, COLLECT_WITHIN_MS);
      settle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  };
  return {
    /** Settles when all have answered, or COLLECT_WITHIN_MS later: then their last reports must suffice. */
    collect: () => (running ??= collect().finally(() => (running = undefined))),
    collected(worker: number, answeredId: number) {
      if (answeredId === id) answered(worker);
    },
    ended: answered,
  };
}
