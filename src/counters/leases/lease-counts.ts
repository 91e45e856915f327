import type { Statistics } from '../../core/ports';

const NAMES = ['granted', 'spent', 'returned', 'stranded'] as const;

/** What became of leased hits, gathered so that a decision counts for nothing in the statistics. */
export class LeaseCounts {
  /** Hits that refills brought. */
  granted = 0;
  /** Hits that were asked for and came from a lease. */
  spent = 0;
  /** Hits that lay unspent and were given back to the store. */
  returned = 0;
  /** Hits that lay unspent and were lost. */
  stranded = 0;
  readonly #statistics: Pick<Statistics, 'count'> | undefined;

  constructor(statistics: Pick<Statistics, 'count'> | undefined) {
    this.#statistics = statistics;
  }

  /** Tells the statistics what came since the last time. */
  flush(): void {
    for (const name of NAMES) {
      if (this[name] === 0) continue;
      this.#statistics?.count(`ratelimit.leases.${name}`, this[name]);
      this[name] = 0;
    }
  }
}
