import fc from 'fast-check';
import type { LimitSpec } from './limits';
import type { Ask, RuleSpec } from './rule';

/** What is asked of one value of a rule, and when: milliseconds since the step before. */
export interface ScheduledAsk {
  readonly afterMs: number;
  readonly value: string;
  readonly ask: Ask;
}

/** A made-up rule, and what is asked under it. */
export interface Schedule {
  readonly rule: RuleSpec;
  readonly steps: readonly ScheduledAsk[];
}

const PERIODS = { second: 1_000, '2 minute': 120_000, minute: 60_000, hour: 3_600_000 };

const limit = fc.record({
  kind: fc.constantFrom('fixed' as const, 'gcra' as const, 'sliding' as const),
  limit: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 60, max: 90 })),
  periodMs: fc.constantFrom(...Object.values(PERIODS)),
  burst: fc.integer({ min: 1, max: 20 }),
  chargeDenied: fc.boolean(),
});
const slots = fc.record({
  kind: fc.constant('in_flight' as const),
  limit: fc.integer({ min: 1, max: 3 }),
  periodMs: fc.constant(1),
  burst: fc.constant(0),
  chargeDenied: fc.constant(false),
});

/** Limits of one rule are told apart by their periods and algorithms. */
const limits = fc.uniqueArray(limit, {
  minLength: 1,
  maxLength: 3,
  selector: ({ kind, periodMs }) => `${kind} ${String(periodMs)}`,
});

const block = fc.record({
  after: fc.integer({ min: 1, max: 3 }),
  withinMs: fc.constantFrom(2_000, 30_000),
  forMs: fc.constantFrom(1_000, 5_000),
  upToMs: fc.constantFrom(5_000, 60_000),
});

const reserve = fc.record({
  leaseMs: fc.constantFrom(3_000, 90_000),
  unsettled: fc.constantFrom('charge' as const, 'release' as const),
});

const plain: fc.Arbitrary<RuleSpec> = fc.record({
  limits,
  reserve: fc.constant(undefined),
  block: fc.option(block, { nil: undefined }),
});
const holding: fc.Arbitrary<RuleSpec> = fc.record({
  limits: fc
    .tuple(fc.option(slots, { nil: undefined }), limits)
    .map(([some, others]) => (some === undefined ? others : [some, ...others]))
    .map((all) => all.map((one) => ({ ...one, chargeDenied: false }))),
  reserve,
  block: fc.constant(undefined),
});

const hits = fc.integer({ min: 0, max: 9 });
const id = fc.constantFrom('a', 'b', 'c');
const ask: fc.Arbitrary<Ask> = fc.oneof(
  fc.record({ kind: fc.constant('reserve' as const), id, hits }),
  fc.record({
    kind: fc.constant('settle' as const),
    id,
    hits: fc.option(hits, { nil: undefined }),
  }),
  fc.record({ kind: fc.constant('hits' as const), hits }),
);

/** Pages do not say which hits of a sliding window are given back, nor how a block takes it. */
const plainAskOf = ({ limits, block }: RuleSpec): fc.Arbitrary<Ask> => {
  const min = block !== undefined || limits.some(({ kind }) => kind === 'sliding') ? 0 : -3;
  return fc.integer({ min, max: 9 }).map((hits) => ({ kind: 'hits', hits }));
};

const stepsOf = (rule: RuleSpec) =>
  fc.array(
    fc.record({
      afterMs: fc.constantFrom(0, 0, 0, 250, 1_000, 1_750, 3_000, 7_000, 59_000, 60_000, 130_000),
      value: fc.constantFrom('v', 'v', 'w'),
      ask: rule.reserve === undefined ? plainAskOf(rule) : ask,
    }),
    { minLength: 1, maxLength: 40 },
  );

export const schedules: fc.Arbitrary<Schedule> = fc
  .oneof(plain, holding)
  .chain((rule) => fc.record({ rule: fc.constant(rule), steps: stepsOf(rule) }));

/** The rule as a file says it, under the key `k`. */
export function toRuleFile({ limits, reserve, block }: RuleSpec): string {
  return JSON.stringify({
    domain: 'd',
    descriptors: [
      {
        key: 'k',
        ...(reserve && {
          reserve: { lease: `${String(reserve.leaseMs / 1_000)}s`, unsettled: reserve.unsettled },
        }),
        ...(block && {
          block: {
            after: block.after,
            within: `${String(block.withinMs / 1_000)}s`,
            for: `${String(block.forMs / 1_000)}s`,
            up_to: `${String(Math.max(block.upToMs, block.forMs) / 1_000)}s`,
          },
        }),
        rate_limits: limits.map(toYaml),
      },
    ],
  });
}

function toYaml({ kind, limit, periodMs, burst, chargeDenied }: LimitSpec): object {
  if (kind === 'in_flight') return { algorithm: kind, requests_per_unit: limit };
  const [name = ''] = Object.entries(PERIODS).find(([, ms]) => ms === periodMs) ?? [];
  const [multiplier, unit] = name.includes(' ') ? name.split(' ') : ['1', name];
  const algorithm = { fixed: 'fixed_window', gcra: 'gcra', sliding: 'sliding_window' }[kind];
  return {
    unit,
    ...(multiplier !== '1' && { unit_multiplier: Number(multiplier) }),
    requests_per_unit: limit,
    algorithm,
    ...(kind === 'gcra' && { burst }),
    charge_denied: chargeDenied,
  };
}
