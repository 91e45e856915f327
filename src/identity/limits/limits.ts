import type { Decisions, DescriptorEntries } from './decisions';

/** Why and for how long a client has to wait. */
export interface OverLimit {
  readonly kind: 'over-limit';
  readonly limit: number | undefined;
  readonly retryAfterSeconds: number;
}

/** No decision was available, and the operator wants such calls refused. */
interface NoDecision {
  readonly kind: 'no-decision';
}

export type LimitRejection = OverLimit | NoDecision;

interface LimitsDeps {
  readonly decisions: Decisions;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  /** Called with the error of every question without an answer. */
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
) {
  // Two maps: an address that is over one limit must stay over the other too.
  const overRequests = createBlocks(monotonicMs, maxBlocked);
  const overFailures = createBlocks(monotonicMs, maxBlocked);

  const toOverLimit = ({ limit, untilMs }: Block): OverLimit => ({
    kind: 'over-limit',
    limit,
    retryAfterSeconds: Math.max(1, Math.ceil((untilMs - monotonicMs()) / 1_000)),
  });
  const ask = async (
    descriptor: DescriptorEntries,
    onOver?: (block: Block) => void,
  ): Promise<LimitRejection | undefined> => {
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
    /**
     * Every request, before the store is touched. `isKnown`: its credential was good from this address before,
     * so that what others have failed there does not count.
     */
    admit(address: string, isKnown: boolean) {
      const block =
        overRequests.find(address) ?? (isKnown ? undefined : overFailures.find(address));
      if (block !== undefined) return Promise.resolve(toOverLimit(block));
      return ask([{ key: 'remote_address', value: address }], (over) => {
        overRequests.add(address, over);
      });
    },
    /** A credential that was refused. A rejection wherever `admit` has one for credentials that are not known. */
    async chargeFailure(address: string) {
      const before = overFailures.find(address);
      const rejection = await ask(
        [
          { key: 'authenticated', value: 'false' },
          { key: 'remote_address', value: address },
        ],
        (over) => {
          overFailures.add(address, over);
        },
      );
      // The same answer that an unknown credential gets there.
      return before === undefined ? rejection : toOverLimit(overFailures.find(address) ?? before);
    },
    /** A token that was good. */
    chargeUser: (userId: string) =>
      ask([
        { key: 'authenticated', value: 'true' },
        { key: 'user_id', value: userId },
      ]),
    close: () => decisions.close(),
  };
}

/** The questions of one request; undefined: go on. None of them rejects. */
export type Limits = ReturnType<typeof createLimits>;

/** For IDENTITY_RATELIMIT=off. */
export const NO_LIMITS: Limits = {
  admit: () => Promise.resolve(undefined),
  chargeFailure: () => Promise.resolve(undefined),
  chargeUser: () => Promise.resolve(undefined),
  close: () => Promise.resolve(),
};

/** A limit that was hit and the time until it resets. */
export interface Block {
  readonly limit: number | undefined;
  readonly untilMs: number;
}

/** The addresses that are over one limit, until its window ends; the newest `max` of them. */
function createBlocks(monotonicMs: () => number, max: number) {
  const blocks = new Map<string, Block>();
  return {
    find(address: string): Block | undefined {
      const block = blocks.get(address);
      if (block === undefined || block.untilMs > monotonicMs()) return block;
      blocks.delete(address);
      return undefined;
    },
    add(address: string, block: Block) {
      blocks.delete(address);
      const [oldest] = blocks.keys();
      if (blocks.size >= max && oldest !== undefined) blocks.delete(oldest);
      blocks.set(address, block);
    },
  };
}
