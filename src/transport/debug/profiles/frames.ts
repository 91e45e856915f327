/** A function on a stack, as V8's profilers name it. Lines count from 0. */
export interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

export interface StackSample {
  /** The innermost function first. */
  readonly stack: readonly CallFrame[];
  /** One number for each kind of value of the profile. */
  readonly values: readonly number[];
}

/** A kind of value: `cpu` in `nanoseconds`. */
export interface ValueKind {
  readonly type: string;
  readonly unit: string;
}

/** A profile as plain data, before it is encoded. */
export interface SampledProfile {
  readonly kinds: readonly ValueKind[];
  readonly samples: readonly StackSample[];
  /** One sample per this many units of this kind. */
  readonly period: number;
  readonly periodKind: ValueKind;
  readonly durationMs: number;
  /** When it was taken, Unix milliseconds. */
  readonly takenAtMs: number;
}
