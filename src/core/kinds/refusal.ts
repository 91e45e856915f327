import type { Asked, CounterState, Gate, Seen, State } from './kind';
import { tickAt } from './ticks';
import { afterAsks, countAdmitted } from './whole';

/** Where a counter stood when it refused an ask, and when that was by the clock of this process. */
export interface KnownState {
  readonly state: State;
  readonly atSeconds: number;
  /** Unix second from which the ask that it refused would fit. */
  readonly endSeconds: number;
}

/**
 * Where the counter stands now, if no ask fits. Others can only have charged it since, and a refused ask writes nothing: its
 * store would refuse them too. Undefined also when the clock went back, after which it cannot be known.
 */
export function stateRefusing(
  known: KnownState,
  { gate, hits, times }: Asked,
  nowSeconds: number,
): State | undefined {
  if (nowSeconds < known.atSeconds) return undefined;
  const { tickMicros, kind } = gate as Gate<State>;
  const ticks = tickAt(nowSeconds, tickMicros) - tickAt(known.atSeconds, tickMicros);
  const state = kind.advance(gate as Gate<State>, known.state, ticks);
  const admitted = countAdmitted(gate, state, { hits: Number(hits), times });
  return admitted === 0 ? state : undefined;
}

/** The Unix second from which an ask that a counter refuses would fit. */
export function refusedUntil(asked: Asked, seen: Seen, nowSeconds: number): number {
  const { gate, hits, windowEndSeconds } = asked;
  if (!gate.kind.hasOwnForm) return windowEndSeconds;
  const second = Math.ceil(nowSeconds);
  return (
    second + gate.kind.outcome({ ...asked, times: 1 }, seen, Number(hits), 0, second).resetSeconds
  );
}

/** A look is never refused, and a rule that charges what it refuses would lose charges. */
export function isRecalledWhole({ gate, hits }: Asked): boolean {
  return hits !== 0 && !gate.chargeDenied;
}

/** See `Kind.refusal`, where asks are admitted or refused whole. */
export function refusalOfWhole(
  asked: Asked,
  state: CounterState,
  isHeld: boolean,
): CounterState | 'none' | undefined {
  const gate = asked.gate as Gate<CounterState>;
  const { times } = asked;
  const hits = Number(asked.hits);
  if (isHeld || hits <= 0 || gate.chargeDenied) return undefined;
  const admitted = countAdmitted(gate, state, { hits, times });
  return admitted === times ? 'none' : afterAsks(gate, state, hits, times, admitted);
}
