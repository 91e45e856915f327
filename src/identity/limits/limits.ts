import { createBlocks, type Block } from './blocks';
import type { Decisions, Descriptor } from './decisions';

/** A caller who has to wait. */
export interface OverLimit {
  readonly kind: 'over-limit';
  readonly limit: number | undefined;
  readonly retryAfterSeconds: number;
}

/** No decision was to be had, and the operator wants such calls refused. */
export interface NoDecision {
  readonly kind: 'no-decision';
}

export type Obstacle = OverLimit | NoDecision;

/** The questions of one request; undefined: go on. None of them rejects. */
export interface Limits {
  /**
   * Every request, before the store is touched. `isKnown`: its credential was good from this address before,
   * so that what others have failed there does not count.
   */
  admit(address: string, isKnown: boolean): Promise<Obstacle | undefined>;
  /** A credential that was refused. An obstacle wherever `admit` has one for credentials that are not known. */
  chargeFailure(address: string): Promise<Obstacle | undefined>;
  /** A token that was good. */
  chargeUser(userId: string): Promise<Obstacle | undefined>;
  close(): Promise<void>;
}

export interface LimitsDeps {
  readonly decisions: Decisions;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  /** Told of every question without an answer. */
  readonly onFailure: (error: unknown) => void;
}

export interface LimitsOptions {
  /** What happens without a decision (IDENTITY_RATELIMIT_FAILURE). */
  readonly failure: 'allow' | 'deny';
  /** Most addresses that are remembered as over a limit, for each of the two limits of addresses. */
  readonly maxBlocked: number;
}

const NO_DECISION: NoDecision = { kind: 'no-decision' };

/** An address over its limit is answered from memory until the window ends, without another question. */
export function createLimits(
  { decisions, monotonicMs, onFailure }: LimitsDeps,
  { failure, maxBlocked }: LimitsOptions,
): Limits {
  // Two of them: whoever is over the one must not get out of the other by it.
  const overRequests = createBlocks(monotonicMs, maxBlocked);
  const overFailures = createBlocks(monotonicMs, maxBlocked);

  const toOverLimit = ({ limit, untilMs }: Block): OverLimit => ({
    kind: 'over-limit',
    limit,
    retryAfterSeconds: Math.max(1, Math.ceil((untilMs - monotonicMs()) / 1_000)),
  });
  const ask = async (
    descriptor: Descriptor,
    onOver?: (block: Block) => void,
  ): Promise<Obstacle | undefined> => {
    try {
      const { isOver, limit, resetSeconds = 1 } = await decisions.ask(descriptor);
      if (!isOver) return undefined;
      const block: Block = { limit, untilMs: monotonicMs() + resetSeconds * 1_000 };
      onOver?.(block);
      return toOverLimit(block);
    } catch (error) {
      onFailure(error);
      return failure === 'deny' ? NO_DECISION : undefined;
    }
  };

  return {
    admit(address, isKnown) {
      const block =
        overRequests.find(address) ?? (isKnown ? undefined : overFailures.find(address));
      if (block !== undefined) return Promise.resolve(toOverLimit(block));
      return ask([{ key: 'remote_address', value: address }], (over) => {
        overRequests.add(address, over);
      });
    },
    async chargeFailure(address) {
      const before = overFailures.find(address);
      const obstacle = await ask(
        [
          { key: 'authenticated', value: 'false' },
          { key: 'remote_address', value: address },
        ],
        (over) => {
          overFailures.add(address, over);
        },
      );
      // The same answer that an unknown credential gets there.
      return before === undefined ? obstacle : toOverLimit(overFailures.find(address) ?? before);
    },
    chargeUser: (userId) =>
      ask([
        { key: 'authenticated', value: 'true' },
        { key: 'user_id', value: userId },
      ]),
    close: () => decisions.close(),
  };
}

/** For IDENTITY_RATELIMIT=off. */
export const NO_LIMITS: Limits = {
  admit: () => Promise.resolve(undefined),
  chargeFailure: () => Promise.resolve(undefined),
  chargeUser: () => Promise.resolve(undefined),
  close: () => Promise.resolve(),
};
