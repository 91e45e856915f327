import type { Algorithm } from '../../src/core/algorithms/algorithm';
import { applyAsks, isUnused, lifetimeMs, type Asks } from '../../src/core/algorithms/apply-asks';
import { outcomeOf, type Outcome } from '../../src/core/algorithms/outcome';
import { stateAfter, unusedAt, type CounterState } from '../../src/core/algorithms/counter-state';

/** One counter in memory, as a store keeps it: where it stood, and at which tick that was its own time. */
export class AlgorithmCounter {
  #kept: { readonly state: CounterState; readonly tick: number } | undefined;

  /** How long a store has to keep it, by the last write. */
  lifetimeMs = 0;

  get previous(): number {
    return this.#kept?.state.previous ?? 0;
  }

  /** Units or hits in use as they are kept, and the counter's own tick. */
  get stored(): readonly [used: number, tick: number] | undefined {
    return this.#kept && [this.#kept.state.used, this.#kept.tick];
  }

  stateAt(algorithm: Algorithm, tick: number): CounterState {
    if (this.#kept === undefined) return unusedAt(algorithm, tick);
    return stateAfter(algorithm, this.#kept.state, tick - this.#kept.tick);
  }

  /** Where it stood before the asks. */
  apply(algorithm: Algorithm, tick: number, asks: Asks): CounterState {
    const state = this.stateAt(algorithm, tick);
    const after = applyAsks(algorithm, state, asks);
    if (after === undefined) return state;
    const { elapsed } = after;
    this.lifetimeMs = lifetimeMs(algorithm, after);
    this.#kept = isUnused(after)
      ? undefined
      : { state: { ...after, elapsed: 0 }, tick: tick - elapsed };
    return state;
  }

  ask(algorithm: Algorithm, tick: number, hits: number): Outcome {
    const asks = { hits, times: 1 };
    return outcomeOf(algorithm, this.apply(algorithm, tick, asks), asks, 1);
  }
}
