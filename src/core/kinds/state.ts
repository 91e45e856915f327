/** A counter at one moment, of a kind that reads before it charges. */
export interface CounterState {
  /** Hits of this window; for gcra units, as many per hit as the period has ticks. */
  readonly used: number;
  /** Hits of the previous window; 0 except for sliding_window. */
  readonly previous: number;
  /**
   * Ticks since the counter's own time, see each kind; 0 where it has none. Negative after the clock went back before that time:
   * the counter then stands still, and every wait is longer by as much.
   */
  readonly elapsed: number;
  /** For a log only: ticks since each hit in use, the oldest first. */
  readonly ages?: readonly number[] | undefined;
  /** Time of the reading by the clock of the store, in microseconds since 1970; undefined: the store does not report it. */
  readonly atMicros?: number | undefined;
}

/** One limit of a counter that has several. */
export interface EntryState extends CounterState {
  /** For a window: the Unix second at which it ends; else 0. */
  readonly endSeconds: number;
}

/** Refusals of a counter, and the block that they began; times in milliseconds since 1970, 0 for none. */
export interface BlockState {
  /** Refusals in the open span. */
  readonly strikes: number;
  readonly spanEndMs: number;
  /** The end of the last block. */
  readonly untilMs: number;
  /** The duration of the last block; 0: the next block is the first again. */
  readonly tookMs: number;
  /** The last refusal, or the end of the last block. */
  readonly quietMs: number;
}

/** A counter of several limits, reservations or blocks at one moment (budgets.md section 8). */
export interface BudgetState {
  /** By the clock of the store, in microseconds since 1970. */
  readonly atMicros: number;
  /** One for each limit of the rule. */
  readonly entries: readonly EntryState[];
  /** One for each block of the rule. */
  readonly blocks: readonly BlockState[];
  /** Hits that open reservations hold. */
  readonly held: number;
  /** Number of open reservations. */
  readonly open: number;
  /** Hits that the charge's reservation held before it; -1: it was not open. */
  readonly was: number;
  /** Hits of reservations whose expiry this charge found. */
  readonly lapsed: number;
}

/** A counter that is more than a count. */
export type State = CounterState | BudgetState;

/** What a store reads of a counter: its state or, where a number suffices, the number. Only its kind interprets it. */
export type Reading = State | number;

/*
 * States are made field by field: V8 gives a spread copy with another field, or a number of another representation, a shape of its
 * own: some 200 bytes that live as long as the counter.
 */

/** The state of one limit. */
export function entryState(
  { used, previous, elapsed, ages }: CounterState,
  endSeconds: number,
): EntryState {
  return { used, previous, elapsed, endSeconds, ages };
}

/** The same counter with other fields. */
export function changedState(state: BudgetState, changes: Partial<BudgetState>): BudgetState {
  const { atMicros, entries, blocks, held, open, was, lapsed } = state;
  return {
    atMicros: changes.atMicros ?? atMicros,
    entries: changes.entries ?? entries,
    blocks: changes.blocks ?? blocks,
    held: changes.held ?? held,
    open: changes.open ?? open,
    was: changes.was ?? was,
    lapsed: changes.lapsed ?? lapsed,
  };
}
