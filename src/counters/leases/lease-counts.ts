import type { Statistics } from '../../core/ports';

const NAMES = ['granted', 'spent', 'returned', 'stranded'] as const;

/** Counts of leased hits, gathered so that a decision costs no call to the statistics. */
export class LeaseCounts {
  /** Hits granted by refills. */
  granted = 0;
  /** Hits of requests that a lease covered. */
  spent = 0;
  /** Unspent hits that were returned to the store. */
  returned = 0;
  /** Unspent hits that were lost. */
  stranded = 0;
  readonly #statistics: Pick<Statistics, 'count'> | undefined;

  constructor(statistics: Pick<Statistics, 'count'> | undefined) {
    this.#statistics = statistics;
  }

  /** Reports the counts since the last flush to the statistics. */
  flush(): void {
    for (const name of NAMES) {
      if (this[name] === 0) continue;
      this.#statistics?.count(`ratelimit.leases.${name}`, this[name]);
      this[name] = 0;
    }
  }
}
