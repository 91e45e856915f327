/** What happened to one counter in one window since it was reset last, as nobody but a test can see it. */
export interface CounterLedger {
  count: number;
  /** The highest limit that was in force. */
  maxLimit: number;
  /** The lowest. */
  minLimit: number;
  admitted: number;
  refunded: number;
  refused: number;
  /** Hits that refills charged above the limit. */
  overshoot: number;
  /** Hits of asks that got an error, refunds that were lost, and hits that could not be given back below 0. */
  failed: number;
  /** What crashed instances, refills of unknown outcome and leases that a reset ended held. */
  held: number;
  /** What was out on lease, or on its way, when it was reset. */
  outAtReset: number;
  resets: number;
  readonly history: { readonly atMs: number; readonly count: number }[];
}

/** All counters, and the sentences of the promise about them (docs/stores/leases.md). */
export class Ledger {
  readonly counters = new Map<string, CounterLedger>();
  readonly broken: string[] = [];

  of(key: string, limit: number): CounterLedger {
    const known = this.counters.get(key);
    if (known !== undefined) {
      known.maxLimit = Math.max(known.maxLimit, limit);
      known.minLimit = Math.min(known.minLimit, limit);
      return known;
    }
    const sums = { admitted: 0, refunded: 0, refused: 0, overshoot: 0, failed: 0, held: 0 };
    const limits = { maxLimit: limit, minLimit: limit };
    const created = { count: 0, ...limits, ...sums, outAtReset: 0, resets: 0, history: [] };
    this.counters.set(key, created);
    return created;
  }

  reset(key: string, out: number, nowMs: number): void {
    const one = this.counters.get(key);
    if (one === undefined) return;
    const sums = { admitted: 0, refunded: 0, refused: 0, overshoot: 0, failed: 0, held: 0 };
    Object.assign(one, { ...sums, count: 0, outAtReset: out, resets: one.resets + 1 });
    one.history.push({ atMs: nowMs, count: 0 });
  }

  /** Adds hits as a store does; says where the counter stands then. */
  apply(key: string, hits: number, limit: number, nowMs: number): number {
    const one = this.of(key, limit);
    const sum = one.count + hits;
    if (sum < 0) one.failed -= sum;
    one.count = Math.max(0, sum);
    one.history.push({ atMs: nowMs, count: one.count });
    if (one.history.length > 2_000) one.history.splice(0, 1_000);
    return one.count;
  }

  /** 1: admitted - refunded is at most the limit. */
  checkAdmitted(key: string): void {
    const one = this.counters.get(key) as CounterLedger;
    const most = one.maxLimit + one.outAtReset;
    if (one.admitted - one.refunded > most)
      this.#break(
        `admitted ${String(one.admitted)} - ${String(one.refunded)} > ${String(most)}`,
        key,
      );
  }

  /** 2: an ask is refused only when the count had reached the limit, not long ago. */
  checkRefused(key: string, limit: number, sinceMs: number): void {
    const { history } = this.counters.get(key) as CounterLedger;
    for (let at = history.length - 1; at >= 0; at -= 1) {
      const { atMs, count } = history[at] as CounterLedger['history'][number];
      if (count >= limit) return;
      if (atMs < sinceMs) break;
    }
    this.#break(`refused although the count was below ${String(limit)}`, key);
  }

  /** 3: a lease is as small as the rate and what remains ask for. */
  checkSize(key: string, size: number, most: number): void {
    if (size > most) this.#break(`leased ${String(size)} > ${String(most)}`, key);
  }

  /** 4: after a time of quiet the count is what was admitted and refused, but for what was lost. */
  checkQuiet(key: string): void {
    const one = this.counters.get(key) as CounterLedger;
    const known = one.admitted - one.refunded + one.refused + one.overshoot + one.failed;
    if (one.count - known > one.held)
      this.#break(
        `${String(one.count)} counted, ${String(known)} known, ${String(one.held)} held`,
        key,
      );
  }

  #break(what: string, key: string): void {
    this.broken.push(`${key}: ${what}`);
  }
}
