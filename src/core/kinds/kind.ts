import type { KindLua } from './kind.lua';
import type { Seen } from './state';
import type { Ticks } from './ticks';

export type { BudgetState, CounterState, Seen, State } from './state';

/** How a rule counts, ready for the arithmetic. One shape for all kinds, so that the code which reads it stays fast. */
export interface Gate<S extends Seen = Seen> extends Ticks {
  readonly kind: Kind<S>;
  /** Hits per period. */
  readonly limit: number;
  /** Hits that fit at once: the burst where the kind has one, else the limit. */
  readonly size: number;
  /** Units of use that end with each tick, under a kind that drains: the limit, and 1 of a limit of 0. */
  readonly drain: number;
  readonly chargeDenied: boolean;
  /** The end of its counter keys: `_60s~g`; undefined where keys end in the start of the window. */
  readonly keyEnd: string | undefined;
  /** Whether each ask is an increment of its own: what one does to the counter is more than its hits. */
  readonly isAlone: boolean;
}

/** Asks of one batch for one counter, one after the other: so many times the same hits. */
export interface Asks {
  /** Hits of each; 0 looks, negative gives back. Beyond 2^53 it has lost digits, which changes no answer. */
  readonly hits: number;
  /** 1 for looks and for hits that are given back. */
  readonly times: number;
}

/** The asks of an increment. */
export interface Asked {
  /** How it is counted. */
  readonly gate: Gate;
  /** Hits to add, those of one ask under a kind that looks; 0 reads the counter; negative gives back, never below 0. */
  readonly hits: number | bigint;
  /** Equal asks in a row that this increment stands for, under a kind that looks; else 1. */
  readonly times: number;
  /** Unix second at which the window ends and the counter no longer matters. */
  readonly windowEndSeconds: number;
  /** Of a call that opens or ends a reservation; undefined: hits are charged at once. */
  readonly reservation?: Reservation | undefined;
  /** False: where counters of a request are decided together, its refusal holds none of them back. */
  readonly holdsBack?: boolean | undefined;
  /** Of hits that are taken back: when the store charged them, in microseconds since 1970; no window that began since loses them. */
  readonly undoOfMicros?: number | undefined;
}

/** What an ask does with hits that are held (budgets.md section 4). */
export interface Reservation {
  /**
   * `cancel`: the caller went away before its answer, so that no `settle` will come; `look`: nothing is done, leases that are over
   * stay so too.
   */
  readonly mode: 'reserve' | 'settle' | 'cancel' | 'look';
  /** 1 to 256 bytes; of a look also empty: it asks for none. */
  readonly id: string;
  /** Of `settle`: whether it says hits of its own; else it charges what is held. */
  readonly saysHits: boolean;
}

/** What one ask is answered. */
export interface Outcome {
  readonly isOver: boolean;
  /** Hits that would be admitted now; 0 when over. */
  readonly remaining: number;
  /** Hits in use after this ask: what `nearHits` compares with its threshold. */
  readonly used: number;
  /** How many of its hits are over. */
  readonly over: number;
  /**
   * Over: seconds until this ask would be admitted without other requests, or until nothing is in use when it never will be.
   * Else: until nothing is in use, or until the window ends.
   */
  readonly resetSeconds: number;
}

/** What a limit may be under a kind. */
export interface KindRange {
  /** The largest limit and burst. */
  readonly maxLimit: number;
  readonly maxPeriodSeconds: number;
  /** Whether its periods may differ in length. */
  readonly hasCalendar: boolean;
}

/** What a rule says that is of a kind, in words. */
export interface KindWords {
  /** Its algorithm in rule files and answers. */
  readonly name: string;
  /** What of a rule asks for it. */
  readonly feature: string;
  /** What of a limit is more than hits per period. */
  readonly ofGate: (gate: Gate) => readonly string[];
}

/**
 * A kind of limit: plain functions over what is seen of a counter. The table (`kinds.ts`) has all kinds, and no code outside
 * of this folder knows one by its name.
 */
export interface Kind<S extends Seen = Seen> {
  /** In keys and scripts. */
  readonly letter: string;
  readonly words: KindWords;
  /** Whether a rule of its algorithm is of this kind that says this of `charge_denied` and has this limit. */
  readonly serves: (chargeDenied: boolean | undefined, limit: number) => boolean;
  readonly range: KindRange;
  readonly hasBurst: boolean;
  /**
   * An ask is admitted or refused whole, by where its counter stands: a store looks before it charges, says where the counter
   * stood, and writes nothing for a look. Otherwise all hits are charged: those of several asks are summed, plain commands
   * do, and a store says where the counter stands after them.
   */
  readonly looks: boolean;
  /**
   * Counters are kept in a form of their own, and each ends when nothing of it is in use. Otherwise they are counts in
   * windows, whose start is in the key, and end together.
   */
  readonly hasOwnForm: boolean;
  /** Undefined: several kinds under one key, which have a script of their own. */
  readonly lua?: KindLua | undefined;

  /** A counter of which exactly so many hits are in use, and none of a window before. */
  ofHits(gate: Gate<S>, hits: number, nowTick: number): S;
  /** A counter so many ticks later; earlier when negative. What was stored at a tick stands here with `elapsed` 0. */
  advance(gate: Gate<S>, seen: S, ticks: number): S;
  /** Units that are free, as many to a hit as the period has ticks; negative: a debt, or a limit that was lowered. */
  free(gate: Gate<S>, seen: S): number;
  /** The counter with so many hits more; negative gives back. */
  take(gate: Gate<S>, seen: S, hits: number): S;
  /** Ticks until nothing is in use, or until the window ends. */
  ticksUntilReset(gate: Gate<S>, seen: S): number;
  /** Ticks until so many hits, which fit into an unused counter, would be admitted. */
  ticksUntilFree(gate: Gate<S>, seen: S, hits: number): number;
  /** All hits that a window was asked for, refused ones too; undefined: that cannot be seen. */
  hitsAsked(seen: S): number | undefined;
  /** Whether an ask of an increment is refused, by what a store said. */
  isAnyRefused(asked: Asked, seen: S): boolean;
  /** What an ask gets by what a store said; `later`: hits of its increment that came after its own; `second`: now. */
  outcome(asked: Asked, seen: S, hits: number, later: number, second: number): Outcome;
  /** The same for one that was held back, while its counter was seen so. */
  heldOutcome(asked: Asked, seen: S, hits: number, second: number): Outcome;
  /** The counter after the asks of an increment; undefined when nothing has to be written, as for a look and for what was refused. */
  commit(asked: Asked, seen: S): S | undefined;
  /** Whether one ask of an increment does not fit: it is then refused with all that is decided together with it. */
  refuses(asked: Asked, seen: S): boolean;
  /** Whether what is known of a refusal answers such asks in place of the store. */
  isRecalled(asked: Asked): boolean;
  /** Where a counter stands that has refused one of these asks; `none`: none was; undefined: that cannot be told, or says nothing new. */
  refusal(asked: Asked, seen: S, isHeld: boolean): S | 'none' | undefined;
  /** Whether hits that were given back took a counter from refusing a hit to within its limit. */
  isTakenBack(asked: Asked, seen: S): boolean;

  /**
   * Where a counter stands for which a list of limits has a part of the kind of this letter alone, as 1.0.0-rc.1 wrote it; never less
   * than what was used.
   */
  readonly heirOf?: { readonly letter: string; readonly decode: Kind<S>['decode'] };
  /** Whether a counter that is so many ticks older by now was written by a clock that was wrong; `advance` mends it. */
  isAstray(gate: Gate<S>, seen: S, ticks: number): boolean;
  /** Of an own form: ticks for which a counter is kept after it was written. */
  ticksOfLife(gate: Gate<S>, seen: S): number;
  /** The value of a counter, as operators see it: whole numbers with a space between, of most kinds as a store holds it. */
  encode(gate: Gate<S>, seen: S, nowTick: number): string;
  /** Where a value stands now; undefined: it was not written by this kind. */
  decode(gate: Gate<S>, value: string, nowTick: number): S | undefined;
}

/** A kind of the table: Redis counts by its Lua. */
export interface ScriptedKind<S extends Seen = Seen> extends Kind<S> {
  readonly lua: KindLua;
}
