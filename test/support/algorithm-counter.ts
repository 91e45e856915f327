import type { Algorithm } from '../../src/core/algorithms/algorithm';
import { applyAsks, isUnused, lifetimeMs, type Asks } from '../../src/core/algorithms/apply-asks';
import { outcomeOf, type Outcome } from '../../src/core/algorithms/outcome';
import { standingAfter, unusedAt, type Standing } from '../../src/core/algorithms/standing';

/** One counter in memory, as a store keeps it: where it stood, and at which tick that was its own time. */
export class AlgorithmCounter {
  #kept: { readonly standing: Standing; readonly tick: number } | undefined;

  /** How long a store has to keep it, by the last write. */
  lifetimeMs = 0;

  get previous(): number {
    return this.#kept?.standing.previous ?? 0;
  }

  /** Units or hits in use as they are kept, and the counter's own tick. */
  get state(): readonly [used: number, tick: number] | undefined {
    return this.#kept && [this.#kept.standing.used, this.#kept.tick];
  }

  standing(algorithm: Algorithm, tick: number): Standing {
    if (this.#kept === undefined) return unusedAt(algorithm, tick);
    return standingAfter(algorithm, this.#kept.standing, tick - this.#kept.tick);
  }

  /** Where it stood before the asks. */
  apply(algorithm: Algorithm, tick: number, asks: Asks): Standing {
    const standing = this.standing(algorithm, tick);
    const after = applyAsks(algorithm, standing, asks);
    if (after === undefined) return standing;
    const { elapsed } = after;
    this.lifetimeMs = lifetimeMs(algorithm, after);
    this.#kept = isUnused(after)
      ? undefined
      : { standing: { ...after, elapsed: 0 }, tick: tick - elapsed };
    return standing;
  }

  ask(algorithm: Algorithm, tick: number, hits: number): Outcome {
    const asks = { hits, times: 1 };
    return outcomeOf(algorithm, this.apply(algorithm, tick, asks), asks, 1);
  }
}
