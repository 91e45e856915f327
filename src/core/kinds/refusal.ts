import type { Operation, CounterState, Limiter, Reading, State } from './kind';
import { tickAt } from './ticks';
import { afterCharges, countAdmitted } from './whole';

/** A counter that refused a charge, and when, by the clock of this process. */
export interface KnownState {
  readonly state: State;
  readonly atSeconds: number;
  /** Unix second from which the refused charge would fit. */
  readonly endSeconds: number;
}

/**
 * The counter now, if no charge fits. Others can only have charged it since, and a refused charge writes nothing: its store would
 * refuse too. Undefined also after the clock went back, when this cannot be known.
 */
export function stateRefusing(
  known: KnownState,
  { limiter, hits, times }: Operation,
  nowSeconds: number,
): State | undefined {
  if (nowSeconds < known.atSeconds) return undefined;
  const { tickMicros, kind } = limiter as Limiter<State>;
  const ticks = tickAt(nowSeconds, tickMicros) - tickAt(known.atSeconds, tickMicros);
  const state = kind.advance(limiter as Limiter<State>, known.state, ticks);
  const admitted = countAdmitted(limiter, state, { hits: Number(hits), times });
  return admitted === 0 ? state : undefined;
}

/** The Unix second from which a refused charge would fit. */
export function refusedUntil(operation: Operation, reading: Reading, nowSeconds: number): number {
  const { limiter, hits, windowEndSeconds } = operation;
  if (!limiter.kind.isRecord) return windowEndSeconds;
  const second = Math.ceil(nowSeconds);
  return (
    second +
    limiter.kind.outcome({ ...operation, times: 1 }, reading, Number(hits), 0, second).resetSeconds
  );
}

/** A read is never refused, and a rule that charges refused hits would lose charges. */
export function isRecalledWhole({ limiter, hits }: Operation): boolean {
  return hits !== 0 && !limiter.chargeDenied;
}

/** See `Kind.refusal`, for charges that are admitted or refused whole. */
export function refusalOfWhole(
  operation: Operation,
  state: CounterState,
  isHeld: boolean,
): CounterState | 'none' | undefined {
  const limiter = operation.limiter as Limiter<CounterState>;
  const { times } = operation;
  const hits = Number(operation.hits);
  if (isHeld || hits <= 0 || limiter.chargeDenied) return undefined;
  const admitted = countAdmitted(limiter, state, { hits, times });
  return admitted === times ? 'none' : afterCharges(limiter, state, hits, times, admitted);
}

/** For counters that must all admit: which of them refuse; undefined when none does. A counter without a reading refuses nothing. */
export function all(
  run: readonly Operation[],
  reading: readonly (Reading | undefined)[],
): readonly boolean[] | undefined {
  const refusals = run.map((operation, at) => {
    const one = reading[at];
    return one !== undefined && operation.limiter.kind.refuses(operation, one);
  });
  const isAnyRefused = refusals.some((isRefused, at) => isRefused && run[at]?.holdsBack !== false);
  return isAnyRefused ? refusals : undefined;
}
