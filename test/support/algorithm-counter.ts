import { type StateLimiter } from './limiters';
import type { Outcome } from '../../src/core/kinds/kind';
import { outcomeOf } from '../../src/core/kinds/whole';
import { isUnused, lifetimeMs } from '../../src/core/kinds/limiter';
import { type Charges } from '../../src/core/kinds/kind';
import { unused } from '../../src/core/kinds/limiter';
import { type CounterState } from '../../src/core/kinds/kind';

/** One counter in memory, as a store keeps it: where it stood, and at which tick that was its own time. */
export class AlgorithmCounter {
  #kept: { readonly state: CounterState; readonly tick: number } | undefined;

  /** How long a store has to keep it, by the last write. */
  lifetimeMs = 0;

  get previous(): number {
    return this.#kept?.state.previous ?? 0;
  }

  get ages(): readonly number[] | undefined {
    return this.#kept?.state.ages;
  }

  /** Units or hits in use as they are kept, and the counter's own tick. */
  get stored(): readonly [used: number, tick: number] | undefined {
    return this.#kept && [this.#kept.state.used, this.#kept.tick];
  }

  stateAt(algorithm: StateLimiter, tick: number): CounterState {
    if (this.#kept === undefined) return unused(algorithm, tick);
    return algorithm.kind.advance(algorithm, this.#kept.state, tick - this.#kept.tick);
  }

  /** Where it stood before the asks. */
  apply(algorithm: StateLimiter, tick: number, charges: Charges): CounterState {
    const state = this.stateAt(algorithm, tick);
    const after = algorithm.kind.commit(
      { ...charges, limiter: algorithm, windowEndSeconds: 0 },
      state,
    );
    if (after === undefined) return state;
    const { elapsed } = after;
    this.lifetimeMs = lifetimeMs(algorithm, after);
    this.#kept = isUnused(after)
      ? undefined
      : { state: { ...after, elapsed: 0 }, tick: tick - elapsed };
    return state;
  }

  ask(algorithm: StateLimiter, tick: number, hits: number): Outcome {
    const asks = { hits, times: 1 };
    return outcomeOf(algorithm, this.apply(algorithm, tick, asks), asks, 1);
  }
}
