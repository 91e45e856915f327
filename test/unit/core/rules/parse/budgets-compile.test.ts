import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { isBudgetLimiter, type BudgetEntry } from '../../../../../src/core/budgets/budget';
import { compileRules } from '../../../../../src/core/rules/compile';
import { listLimits } from '../../../../../src/core/rules/dump';
import { KINDS } from '../../../../../src/core/kinds/kinds';
import type { KeyRules, RuleLimit } from '../../../../../src/core/rules/rules';
import { UNIT_SECONDS, unitOfName } from '../../../../../src/core/units';
import {
  writtenBudgets,
  type WrittenBudget,
  type WrittenLimit,
} from '../../../../support/budget-rules';
import { parseText } from '../../../../support/rule-texts';

/** JSON is YAML. */
function compiled(rule: WrittenBudget) {
  const file = { domain: 'd', descriptors: [{ key: 'user', ...rule }] };
  const { domains, problems } = parseText(JSON.stringify(file));
  expect(problems).toEqual([]);
  const { anyValue } = compileRules(domains).domains.get('d')?.top as KeyRules;
  const limit = anyValue?.limit;
  if (limit === undefined || !isBudgetLimiter(limit.limiter)) throw new Error('no budget');
  return { limit, budget: limit.limiter.budget };
}

const ms = (duration: string): number => Number(duration.slice(0, -1)) * 1_000;

/** Of the calendar, an ordinary month. */
function secondsOf({ unit = '', unit_multiplier = 1 }: WrittenLimit): number {
  const found = unitOfName(unit);
  return found === undefined ? 0 : UNIT_SECONDS[found] * unit_multiplier;
}

function blockOf(
  said: NonNullable<WrittenLimit['block']>,
  periodSeconds: number,
  entry: number,
): object {
  const forMs = ms(said.for);
  const period = periodSeconds === 0 ? forMs : periodSeconds * 1_000;
  return {
    after: said.after,
    forMs,
    withinMs: said.within === undefined ? period : ms(said.within),
    upToMs: said.up_to === undefined ? forMs : ms(said.up_to),
    entry,
  };
}

function expectEntry(
  said: WrittenLimit,
  one: RuleLimit | undefined,
  entry: BudgetEntry | undefined,
): void {
  const { requests_per_unit, algorithm = 'fixed_window', name = '', calendar } = said;
  expect(one).toMatchObject({ requestsPerUnit: requests_per_unit, name });
  expect(entry?.limiter).toMatchObject({ limit: requests_per_unit, chargeDenied: false });
  expect(entry?.limiter.kind.words.name).toBe(algorithm);
  expect(entry?.isSlots).toBe(algorithm === 'in_flight');
  expect(entry?.windowAt !== undefined).toBe(algorithm === 'fixed_window');
  if (calendar !== true) expect(entry?.periodSeconds).toBe(secondsOf(said));
}

describe('a list of limits compiles to what it says', () => {
  it('each limit with its number, period and algorithm', () => {
    fc.assert(
      fc.property(writtenBudgets, (rule) => {
        const { limit, budget } = compiled(rule);
        expect(budget.entries).toHaveLength(rule.rate_limits.length);
        for (const [at, said] of rule.rate_limits.entries()) {
          expectEntry(said, limit.budget?.entries[at], budget.entries[at]);
        }
      }),
    );
  });

  it('all of them under different names, in statistics and in the record', () => {
    fc.assert(
      fc.property(writtenBudgets, (rule) => {
        const { limit, budget } = compiled(rule);
        const names = limit.budget?.names ?? [];
        expect(new Set(names).size).toBe(rule.rate_limits.length);
        expect(new Set(budget.entries.map(({ id }) => id)).size).toBe(rule.rate_limits.length);
      }),
    );
  });

  it('its lease and its blocks with their defaults', () => {
    fc.assert(
      fc.property(writtenBudgets, (rule) => {
        const { budget } = compiled(rule);
        const { reserve, block, rate_limits: limits } = rule;
        const isReserved =
          reserve !== undefined || limits.some(({ algorithm }) => algorithm === 'in_flight');
        expect(budget.reserve).toEqual(
          isReserved
            ? {
                leaseMs: ms(reserve?.lease ?? '600s'),
                isReleased: reserve?.unsettled === 'release',
              }
            : undefined,
        );
        const longest = Math.max(...limits.map(secondsOf));
        const ofLimits = limits.flatMap((one, at) =>
          one.block === undefined ? [] : [blockOf(one.block, secondsOf(one), at)],
        );
        const ofRule = block === undefined ? [] : [blockOf(block, longest, -1)];
        expect(budget.blocks).toEqual([...ofLimits, ...ofRule]);
      }),
    );
  });
});

describe('a rule file of today', () => {
  const folder = join(__dirname, '../../../../parity/vectors');
  const files = readdirSync(folder).flatMap((name) => {
    const scenarios = JSON.parse(readFileSync(join(folder, name), 'utf8')) as readonly {
      readonly name: string;
      readonly rules?: Readonly<Record<string, string>>;
    }[];
    return scenarios.flatMap((one) =>
      Object.values(one.rules ?? {}).map((text): [string, string] => [one.name, text]),
    );
  });

  it.each(files)(
    'as recorded under "%s" says no budget and counts by the table of kinds',
    (_, text) => {
      for (const { rules, isChargedTogether } of parseText(text).domains) {
        expect(isChargedTogether).toBeUndefined();
        expect(rules.filter((rule) => 'budget' in rule)).toEqual([]);
        if (rules.some(({ secret }) => secret !== undefined)) continue;
        const compiledRules = compileRules([{ domain: 'd', rules }]);
        for (const { limit } of listLimits(compiledRules)) {
          expect(KINDS).toContain(limit.limiter.kind);
          expect(limit.budget).toBeUndefined();
        }
      }
    },
  );
});
