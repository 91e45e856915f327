/** Something that fails now, and since when. */
export interface OpenOutage<Reason> {
  readonly name: string;
  /** Of its latest failure. */
  readonly reason: Reason;
  readonly lastedMs: number;
}

/** What fails now, for a page: each name from its first failure until it has worked for a while. */
export interface OpenOutages<Reason> {
  readonly failed: (name: string, reason: Reason) => void;
  readonly worked: (name: string) => void;
  readonly list: () => readonly OpenOutage<Reason>[];
}

export interface OpenOutagesOptions {
  /** A failure this soon after a success continues the outage before it. */
  readonly quietMs: number;
  /** Of one more, the oldest is forgotten. */
  readonly maxOpen: number;
}

interface Followed<Reason> {
  reason: Reason;
  readonly sinceMs: number;
  workedMs: number | undefined;
}

export function createOpenOutages<Reason>(
  monotonicMs: () => number,
  { quietMs, maxOpen }: OpenOutagesOptions,
): OpenOutages<Reason> {
  const followed = new Map<string, Followed<Reason>>();
  const isOver = ({ workedMs }: Followed<Reason>): boolean =>
    workedMs !== undefined && monotonicMs() - workedMs >= quietMs;

  return {
    failed(name, reason) {
      const known = followed.get(name);
      if (known !== undefined && !isOver(known)) {
        known.reason = reason;
        known.workedMs = undefined;
        return;
      }
      followed.delete(name);
      const [oldest] = followed.keys();
      if (oldest !== undefined && followed.size >= maxOpen) followed.delete(oldest);
      followed.set(name, { reason, sinceMs: monotonicMs(), workedMs: undefined });
    },
    worked(name) {
      if (followed.size === 0) return;
      const known = followed.get(name);
      if (known !== undefined) known.workedMs ??= monotonicMs();
    },
    list() {
      for (const [name, one] of followed) if (isOver(one)) followed.delete(name);
      const nowMs = monotonicMs();
      return [...followed].map(([name, { reason, sinceMs }]) => ({
        name,
        reason,
        lastedMs: nowMs - sinceMs,
      }));
    },
  };
}
