import type { Statistics } from '../../../core/ports';

const OUTCOMES = [
  'allowed',
  'denied',
  'undecided',
  'without_descriptor',
  'malformed',
  'untrusted',
  'quota',
] as const;

/** The outcomes of a call (docs/check.md, statistics). */
export type CallOutcome = (typeof OUTCOMES)[number];

/** Counts the outcomes of calls, and reports them to the statistics once per turn. */
export class CheckCounts {
  readonly #statistics: Pick<Statistics, 'count'>;
  readonly #counts = new Map<CallOutcome, number>();

  constructor(statistics: Pick<Statistics, 'count'>) {
    this.#statistics = statistics;
    for (const outcome of OUTCOMES) statistics.count(nameOf(outcome), 0);
  }

  count(outcome: CallOutcome): void {
    if (this.#counts.size === 0) setImmediate(this.#flush);
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
  }

  readonly #flush = (): void => {
    for (const [outcome, times] of this.#counts) this.#statistics.count(nameOf(outcome), times);
    this.#counts.clear();
  };
}

function nameOf(outcome: CallOutcome): string {
  return `ratelimit.check.${outcome}`;
}
