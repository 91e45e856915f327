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
  /** Every request, before the store is touched. */
  admit(address: string): Promise<Obstacle | undefined>;
  /** A credential that was refused. */
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
  /** Most addresses that are remembered as over a limit. */
  readonly maxBlocked: number;
}

interface Block {
  readonly limit: number | undefined;
  readonly untilMs: number;
}

const NO_DECISION: NoDecision = { kind: 'no-decision' };

/** An address over its limit is answered from memory until the window ends, without another question. */
export function createLimits(
  { decisions, monotonicMs, onFailure }: LimitsDeps,
  { failure, maxBlocked }: LimitsOptions,
): Limits {
  const blocked = new Map<string, Block>();

  const toOverLimit = ({ limit, untilMs }: Block): OverLimit => ({
    kind: 'over-limit',
    limit,
    retryAfterSeconds: Math.max(1, Math.ceil((untilMs - monotonicMs()) / 1_000)),
  });
  const block = (address: string, entry: Block): void => {
    blocked.delete(address);
    const [oldest] = blocked.keys();
    if (blocked.size >= maxBlocked && oldest !== undefined) blocked.delete(oldest);
    blocked.set(address, entry);
  };
  const blockOf = (address: string): Block | undefined => {
    const entry = blocked.get(address);
    if (entry === undefined || entry.untilMs > monotonicMs()) return entry;
    blocked.delete(address);
    return undefined;
  };
  const ask = async (descriptor: Descriptor, address?: string): Promise<Obstacle | undefined> => {
    try {
      const { isOver, limit, resetSeconds = 1 } = await decisions.ask(descriptor);
      if (!isOver) return undefined;
      const entry: Block = { limit, untilMs: monotonicMs() + resetSeconds * 1_000 };
      if (address !== undefined) block(address, entry);
      return toOverLimit(entry);
    } catch (error) {
      onFailure(error);
      return failure === 'deny' ? NO_DECISION : undefined;
    }
  };

  return {
    admit(address) {
      const entry = blockOf(address);
      if (entry !== undefined) return Promise.resolve(toOverLimit(entry));
      return ask([{ key: 'remote_address', value: address }], address);
    },
    chargeFailure: (address) =>
      ask(
        [
          { key: 'authenticated', value: 'false' },
          { key: 'remote_address', value: address },
        ],
        address,
      ),
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
