import type { Reading } from './state';
import type { Ticks } from './ticks';

export type { BudgetState, CounterState, Reading, State } from './state';

/** A rule's limit, compiled for the arithmetic of its kind. One shape for all kinds, so that the code that reads it stays fast. */
export interface Limiter<S extends Reading = Reading> extends Ticks {
  readonly kind: Kind<S>;
  /** Hits per period. */
  readonly limit: number;
  /** Burst size: the burst where the kind has one, else the limit. */
  readonly size: number;
  /** Units freed per tick by a kind that drains: the limit, and 1 for a limit of 0. */
  readonly drain: number;
  readonly chargeDenied: boolean;
  /** The suffix of its counter keys: `_60s~g`; undefined where keys end in the start of the window. */
  readonly keyEnd: string | undefined;
  /** Whether each charge needs an increment of its own, because it does more to the counter than adding hits. */
  readonly isNeverMerged: boolean;
}

/** Equal charges of one batch to one counter, one after the other. */
export interface Charges {
  /** Hits of each charge; 0: a read, negative: a refund. Above 2^53 it has lost digits, which changes no answer. */
  readonly hits: number;
  /** 1 for reads and refunds. */
  readonly times: number;
}

/** What one increment does to its counter. */
export interface Operation {
  /** How it is counted. */
  readonly limiter: Limiter;
  /** Hits to add, per charge under a kind that reads first; 0: a read; negative: a refund, never below 0. */
  readonly hits: number | bigint;
  /** Number of equal charges in a row that this increment represents, under a kind that reads first; else 1. */
  readonly times: number;
  /** Unix second at which the window ends and the counter no longer matters. */
  readonly windowEndSeconds: number;
  /** For a call that opens or closes a reservation; undefined: hits are charged at once. */
  readonly reservation?: Reservation | undefined;
  /** False: where the counters of a request are decided together, its refusal holds back no other increment. */
  readonly holdsBack?: boolean | undefined;
  /** For an undo: when the store charged the hits, in microseconds since 1970; windows that began later lose none. */
  readonly undoOfMicros?: number | undefined;
}

/** What a charge does with reserved hits (budgets.md section 4). */
export interface Reservation {
  /** `cancel`: the caller left before its answer, so no `settle` will come; `read`: changes nothing, and expires no leases. */
  readonly mode: 'reserve' | 'settle' | 'cancel' | 'read';
  /** 1 to 256 bytes; a read may leave it empty: it then concerns no reservation. */
  readonly id: string;
  /** For `settle`: whether it has hits of its own; else it charges the reserved ones. */
  readonly saysHits: boolean;
}

/** The answer to one charge. */
export interface Outcome {
  readonly isOver: boolean;
  /** Hits that would be admitted now; 0 when over. */
  readonly remaining: number;
  /** Hits in use after this charge: `nearHits` compares them with its threshold. */
  readonly used: number;
  /** How many of its hits are over. */
  readonly over: number;
  /**
   * Over: seconds until this charge would be admitted without other requests; if it never would be, until the counter is idle.
   * Else: seconds until the counter is idle, or until the window ends.
   */
  readonly resetSeconds: number;
}

/** Bounds of limits under a kind. */
export interface KindRange {
  /** The largest limit and burst. */
  readonly maxLimit: number;
  readonly maxPeriodSeconds: number;
  /** Whether its periods may differ in length. */
  readonly hasCalendar: boolean;
}

/** The words for a kind in rules, answers and messages. */
export interface KindWords {
  /** Its algorithm in rule files and answers. */
  readonly name: string;
  /** The rule field that selects this kind. */
  readonly feature: string;
  /** Properties beyond hits per period, such as the burst. */
  readonly ofLimiter: (limiter: Limiter) => readonly string[];
}

/** What the store in Redis has to know of a kind. */
export interface KindLua {
  /** Its Lua: a file of counters/redis/lua/kinds. */
  readonly file: string;
  /** Whether answers have the ticks of all hits, in place of figures. */
  readonly isLog: boolean;
  /** Whether answers have the hits of the window before. */
  readonly hasPrevious: boolean;
}

/**
 * A kind of limit: pure functions over the reading of a counter. The table (`kinds.ts`) has all kinds; no code outside of this
 * folder knows one by its name.
 */
export interface Kind<S extends Reading = Reading> {
  /** Its letter in keys and scripts. */
  readonly letter: string;
  readonly words: KindWords;
  /** Whether this kind serves a rule of its algorithm with this `charge_denied` and limit. */
  readonly serves: (chargeDenied: boolean | undefined, limit: number) => boolean;
  readonly range: KindRange;
  readonly hasBurst: boolean;
  /**
   * A charge is admitted or refused whole, by its counter before the charge: a store reads first, reports the counter as it was,
   * and writes nothing for a read. Otherwise all hits are charged: several charges are summed, plain commands suffice, and a store
   * reports the counter after them.
   */
  readonly readsFirst: boolean;
  /**
   * Counters are records, each of which expires when it is idle. Otherwise they are counts of windows, with the start of the window
   * in the key, which expire together.
   */
  readonly isRecord: boolean;
  /** Undefined: several kinds under one key, with a script of their own. */
  readonly lua?: KindLua | undefined;

  /** A counter with exactly `hits` in use, and none in the previous window. */
  ofHits(limiter: Limiter<S>, hits: number, nowTick: number): S;
  /** The counter `ticks` later; earlier when negative. A value stored at a tick has `elapsed` 0 at that tick. */
  advance(limiter: Limiter<S>, reading: S, ticks: number): S;
  /** Free units (a hit is as many units as the period has ticks); negative: a debt, or a limit that was lowered. */
  free(limiter: Limiter<S>, reading: S): number;
  /** The counter with `hits` more; negative refunds. */
  take(limiter: Limiter<S>, reading: S, hits: number): S;
  /** Ticks until the counter is idle, or until the window ends. */
  ticksUntilReset(limiter: Limiter<S>, reading: S): number;
  /** Ticks until `hits`, which fit into an unused counter, would be admitted. */
  ticksUntilFree(limiter: Limiter<S>, reading: S, hits: number): number;
  /** All hits charged to a window, refused ones too; undefined: unknown. */
  hitsCharged(reading: S): number | undefined;
  /** Whether any charge of an increment is refused, by the store's reading. */
  isAnyRefused(operation: Operation, reading: S): boolean;
  /** The outcome of one charge by the store's reading; `later`: hits of its increment after its own; `second`: now. */
  outcome(operation: Operation, reading: S, hits: number, later: number, second: number): Outcome;
  /** As `outcome`, for a charge that was held back, by the reading of its counter. */
  heldOutcome(operation: Operation, reading: S, hits: number, second: number): Outcome;
  /** The counter after an increment; undefined when nothing has to be written: for a read, and where all is refused. */
  commit(operation: Operation, reading: S): S | undefined;
  /** Whether one charge of an increment does not fit: it is then refused with everything that is decided together with it. */
  refuses(operation: Operation, reading: S): boolean;
  /** Whether a cached refusal may answer such an operation in place of the store. */
  isRecalled(operation: Operation): boolean;
  /** The refusing counter, where one of these charges was refused; `none`: none was; undefined: unknown, or nothing new. */
  refusal(operation: Operation, reading: S, isHeld: boolean): S | 'none' | undefined;
  /** Whether a refund took a counter from refusing a hit to within its limit. */
  isTakenBack(operation: Operation, reading: S): boolean;

  /** Reads a counter that 1.0.0-rc.1 wrote for a list with one limit, of the kind with this letter; never less than what was used. */
  readonly heirOf?: { readonly letter: string; readonly decode: Kind<S>['decode'] };
  /** Whether a counter that was written `ticks` ago was written by a wrong clock; `advance` mends it. */
  isAstray(limiter: Limiter<S>, reading: S, ticks: number): boolean;
  /** For records: ticks for which a counter is kept after it was written. */
  ticksOfLife(limiter: Limiter<S>, reading: S): number;
  /** A counter's value for operators: whole numbers separated by spaces, for most kinds as a store holds it. */
  encode(limiter: Limiter<S>, reading: S, nowTick: number): string;
  /** The current reading of a value; undefined: another kind wrote it. */
  decode(limiter: Limiter<S>, value: string, nowTick: number): S | undefined;
}
