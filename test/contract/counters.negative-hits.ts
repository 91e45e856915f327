import fc from 'fast-check';
import { compileRules } from '../../src/core/rules/compile';
import { budgetOf, inFlight } from '../support/budgets';
import type { DescriptorStatus } from '../../src/core/model';
import { createDecider, decisionOf } from '../support/decider';
import { freshKey, START_SECONDS, type CountersUnderTest } from '../support/increments';
import { descriptor, request } from '../support/requests';
import { definitionsOf, type RuleSketch } from '../support/rules';

const hour = { unit: 'HOUR', requestsPerUnit: 6 } as const;
const bucket = { unit: 'YEAR', requestsPerUnit: 9, algorithm: 'gcra' } as const;
const log = { unit: 'DAY', requestsPerUnit: 7, algorithm: 'sliding_window' } as const;
const window = { unit: 'WEEK', requestsPerUnit: 70, algorithm: 'sliding_window' } as const;
const block = { after: 2, forMs: 600_000 };

const RULES: Readonly<Record<string, Pick<RuleSketch, 'limit' | 'budget'>>> = {
  window: budgetOf([hour], { reserve: {} }),
  bucket: budgetOf([bucket], { reserve: { unsettled: 'release' } }),
  log: budgetOf([log], { reserve: {} }),
  list: budgetOf([hour, bucket, log, window], { reserve: {} }),
  slots: budgetOf([inFlight(2)], { reserve: {} }),
  both: budgetOf([inFlight(3), log], { reserve: {}, block }),
};

const STEPS = fc.array(
  fc.array(
    fc.record({
      mode: fc.constantFrom('reserve', 'reserve', 'settle', undefined),
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      hits: fc.oneof(
        fc.integer({ min: -4, max: 4 }),
        fc.constantFrom(-100, -Number.MAX_SAFE_INTEGER),
      ),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  { minLength: 5, maxLength: 15 },
);

/** The time of a store may go on between its answers about two keys. */
const withoutResets = (statuses: readonly DescriptorStatus[]) =>
  statuses.map((status) => ({ ...status, secondsUntilReset: undefined }));

/** Hits below 0 in every mode, as the planner makes increments of them. */
export function describeNegativeHits(store: () => CountersUnderTest): void {
  describe.each(Object.keys(RULES))('negative hits of a rule with reservations: %s', (key) => {
    it.each([false, true])(
      'hold and settle what no hits would, whatever its charges refund, together: %j',
      async (isChargedTogether) => {
        const rules = definitionsOf([
          { key, ...RULES[key] },
          { key: 'plain', limit: { unit: 'YEAR', requestsPerUnit: 9_000_000 } },
        ]);
        const current = compileRules([{ domain: 'd', rules, isChargedTogether }]);
        const clock = () => START_SECONDS;
        const decide = createDecider({ rules: { current }, counters: store().counters, clock });
        await fc.assert(
          fc.asyncProperty(STEPS, async (steps) => {
            const user = freshKey();
            for (const step of steps) {
              const asked = (suffix: string, least: number) =>
                step.map(({ mode, id, hits: given }) => {
                  const hits = mode === undefined ? given : Math.max(least, given);
                  const entries = [`${key}=${user}${suffix}`, ...(mode ? [`${mode}=${id}`] : [])];
                  return descriptor(entries, { hits: Math.abs(hits), isNegativeHits: hits < 0 });
                });
              const { answers } = await decide(
                request('d', [...asked('raw', -Infinity), `plain=${user}raw`]),
                request('d', [...asked('none', 0), `plain=${user}none`]),
              );
              const [raw, none] = answers.map((one) => withoutResets(decisionOf(one).statuses));
              expect(raw).toEqual(none);
            }
          }),
          { numRuns: 8 },
        );
      },
    );
  });
}
