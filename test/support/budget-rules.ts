import fc from 'fast-check';
import type { Unit } from '../../src/core/units';

/** One limit as a rule file writes it. */
export interface WrittenLimit {
  readonly unit?: string;
  readonly requests_per_unit: number;
  readonly unit_multiplier?: number;
  readonly algorithm?: string;
  readonly burst?: number;
  readonly calendar?: boolean;
  readonly name?: string;
  readonly block?: WrittenBlock | undefined;
}

interface WrittenBlock {
  readonly for: string;
  readonly after?: number;
  readonly within?: string;
  readonly up_to?: string;
}

/** A rule with several limits, reservations or blocks as a rule file writes it. */
export interface WrittenBudget {
  readonly rate_limits: readonly WrittenLimit[];
  readonly reserve?: { readonly lease?: string; readonly unsettled?: string } | null;
  readonly block?: WrittenBlock | undefined;
}

const UNITS: readonly Unit[] = ['SECOND', 'MINUTE', 'HOUR', 'DAY', 'WEEK'];

const seconds = fc.integer({ min: 1, max: 86_400 });

const block = fc
  .record({ lasts: seconds, longer: fc.nat({ max: 9 }), after: fc.integer({ min: 2, max: 9 }) })
  .chain(({ lasts, longer, after }) =>
    fc.record<WrittenBlock>(
      {
        for: fc.constant(`${String(lasts)}s`),
        after: fc.constant(after),
        within: seconds.map((count) => `${String(count)}s`),
        up_to: fc.constant(`${String(lasts + longer)}s`),
      },
      { requiredKeys: ['for', 'after'] },
    ),
  );

const requests = fc.integer({ min: 1, max: 100_000 });

const inFlight = fc.record<WrittenLimit>(
  { algorithm: fc.constant('in_flight'), requests_per_unit: requests, block },
  { requiredKeys: ['algorithm', 'requests_per_unit'] },
);

const unit = fc.constantFrom(...UNITS).map((name) => name.toLowerCase());

const timed = fc.record<WrittenLimit>(
  {
    unit,
    requests_per_unit: requests,
    // A prime: no such period is a whole number of a larger unit.
    unit_multiplier: fc.constantFrom(1, 11, 13, 17, 19),
    algorithm: fc.constantFrom('fixed_window', 'gcra', 'sliding_window'),
    block,
  },
  { requiredKeys: ['unit', 'requests_per_unit'] },
);

const calendar = fc.record<WrittenLimit>(
  {
    unit: fc.constantFrom('day', 'month'),
    requests_per_unit: requests,
    calendar: fc.constant(true),
    block,
  },
  { requiredKeys: ['unit', 'requests_per_unit', 'calendar'] },
);

/** What two limits of one rule must not have both. */
function rateOf({ unit: said, unit_multiplier = 1, algorithm, calendar: is }: WrittenLimit) {
  return [said, unit_multiplier, algorithm ?? 'fixed_window', is === true].join(' ');
}

const limits = fc.uniqueArray(fc.oneof(timed, timed, calendar, inFlight), {
  minLength: 1,
  maxLength: 8,
  selector: rateOf,
});

/** Rules without mistakes, each limit with a name of its own or none. */
export const writtenBudgets: fc.Arbitrary<WrittenBudget> = fc
  .record(
    {
      rate_limits: limits,
      reserve: fc.option(
        fc.record(
          {
            lease: seconds.map((count) => `${String(count)}s`),
            unsettled: fc.constantFrom('charge', 'release'),
          },
          { requiredKeys: [] },
        ),
      ),
      block,
      named: fc.boolean(),
    },
    { requiredKeys: ['rate_limits', 'named'] },
  )
  .map(({ named, ...budget }) => ({
    ...budget,
    rate_limits: budget.rate_limits.map((limit, at) =>
      named ? { ...limit, name: `limit ${String(at)}` } : limit,
    ),
    // A rule of one limit has one block.
    ...(budget.rate_limits.length === 1 && { block: undefined }),
  }));
