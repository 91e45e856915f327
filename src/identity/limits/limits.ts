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
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs: () => number;
  /** Called with the error of every request without a decision. */
  readonly onFailure: (error: unknown) => void;
}

export interface LimitsOptions {
  /** The behaviour without a decision (IDENTITY_RATELIMIT_FAILURE). */
  readonly failure: 'allow' | 'deny';
  /** Maximal number of addresses cached as over a limit, for each of the two limits of addresses. */
  readonly maxBlocked: number;
}

const NO_DECISION: NoDecision = { kind: 'no-decision' };

/** An address over its limit is answered from the cache until the window ends, without another request. */
export function createLimits(
  { decisions, monotonicMs, onFailure }: LimitsDeps,
  { failure, maxBlocked }: LimitsOptions,
) {
  // Two maps: an address over one limit must stay over the other too.
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
     * For every request, before the store is read. `isKnown`: its credential was valid from this address before, so that failures
     * of others there do not count.
     */
    admit(address: string, isKnown: boolean) {
      const block =
        overRequests.find(address) ?? (isKnown ? undefined : overFailures.find(address));
      if (block !== undefined) return Promise.resolve(toOverLimit(block));
      return ask([{ key: 'remote_address', value: address }], (over) => {
        overRequests.add(address, over);
      });
    },
    /** Charges a refused credential. Resolves to a rejection wherever `admit` does for unknown credentials. */
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
      // The answer that an unknown credential gets there.
      return before === undefined ? rejection : toOverLimit(overFailures.find(address) ?? before);
    },
    /** Charges a valid token. */
    chargeUser: (userId: string) =>
      ask([
        { key: 'authenticated', value: 'true' },
        { key: 'user_id', value: userId },
      ]),
    close: () => decisions.close(),
  };
}

/** The limits of one request; undefined: continue. None of them rejects. */
export type Limits = ReturnType<typeof createLimits>;

/** For IDENTITY_RATELIMIT=off. */
export const NO_LIMITS: Limits = {
  admit: () => Promise.resolve(undefined),
  chargeFailure: () => Promise.resolve(undefined),
  chargeUser: () => Promise.resolve(undefined),
  close: () => Promise.resolve(),
};

/** An exceeded limit and the time until it resets. */
export interface Block {
  readonly limit: number | undefined;
  readonly untilMs: number;
}

/** The addresses over one limit, until its window ends; the newest `max` of them. */
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
