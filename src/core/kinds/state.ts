/** Where a counter stands at one moment, of a kind that looks before it charges. */
export interface CounterState {
  /** Hits of this window; under gcra units, as many to a hit as the period has ticks. */
  readonly used: number;
  /** Hits of the window before; 0 but under sliding_window. */
  readonly previous: number;
  /**
   * Ticks since the counter's own time, see each kind; 0 where it has none. Negative when the clock went back before that
   * time: the counter then stands still, and every wait is longer by as much.
   */
  readonly elapsed: number;
  /** Ticks since each hit that is in use, the oldest first; of a log alone. */
  readonly ages?: readonly number[] | undefined;
  /** When it stood so by the clock of the store, in microseconds since 1970; undefined: the store does not say. */
  readonly atMicros?: number | undefined;
}

/** One limit of a counter that has several. */
export interface EntryState extends CounterState {
  /** Of a window: the Unix second at which it ends; else 0. */
  readonly endSeconds: number;
}

/** Refusals of a counter, and the block that they began; times in milliseconds since 1970, 0 for none. */
export interface BlockState {
  /** Refusals in the span that is open. */
  readonly strikes: number;
  readonly spanEndMs: number;
  /** The end of the last block. */
  readonly untilMs: number;
  /** How long that took; 0: the next one is the first again. */
  readonly tookMs: number;
  /** The last refusal, or the end of the last block. */
  readonly quietMs: number;
}

/** Where a counter of several limits, reservations or blocks stands at one moment (budgets.md section 8). */
export interface BudgetState {
  /** By the clock of the store, in microseconds since 1970. */
  readonly atMicros: number;
  /** One for each limit of the rule. */
  readonly entries: readonly EntryState[];
  /** One for each block of the rule. */
  readonly blocks: readonly BlockState[];
  /** Hits that open reservations hold. */
  readonly held: number;
  /** How many are open. */
  readonly open: number;
  /** What the reservation of the ask held before it; -1: it was not open. */
  readonly was: number;
  /** Hits of reservations whose leases were over, as this ask found them. */
  readonly lapsed: number;
}

/** Where a counter stands that is more than a count. */
export type State = CounterState | BudgetState;

/** What is seen of a counter: a state or, where that is a number alone, the number. Only its kind looks into it. */
export type Seen = State | number;
