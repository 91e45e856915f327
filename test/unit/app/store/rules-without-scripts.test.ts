import type { ScriptStore } from '../../../../src/app/store/backend';
import { showRulesWithoutScripts } from '../../../../src/app/compose/decider';
import { compileRules } from '../../../../src/core/rules/compile';
import { createRegistry } from '../../../../src/stats/registry';
import { createSnapshot } from '../../../../streams';
import { rulesOf } from '../../../support/rule-texts';

const RULES = compileRules([
  {
    domain: 'shop',
    rules: rulesOf(`
domain: shop
descriptors:
  - { key: fixed, rate_limit: { unit: second, requests_per_unit: 5 } }
  - { key: smooth, rate_limit: { unit: second, requests_per_unit: 5, algorithm: gcra } }
  - { key: sliding, rate_limit: { unit: minute, requests_per_unit: 5, algorithm: sliding_window } }
  - { key: uncharged, rate_limit: { unit: hour, requests_per_unit: 5, charge_denied: false } }
`),
  },
]);

it.each<readonly [ScriptStore['counts'], number]>([
  ['all', 3],
  ['per-second', 1],
  ['others', 2],
])('shows the rules of a store of %s that need scripts while it takes none', (counts, needing) => {
  const statistics = createRegistry();
  const rules = createSnapshot<typeof RULES | undefined>(undefined);
  let isLacking = false;
  const store = { prefix: 'ratelimit.redis_pool', lacksScripts: () => isLacking, counts };
  showRulesWithoutScripts([store], { rules, statistics });
  const shown = () => statistics.readGauges().get('ratelimit.redis_pool.rules_without_scripts');
  expect(shown()).toBe(0);
  isLacking = true;
  expect(shown()).toBe(0);
  rules.set(RULES);
  expect(shown()).toBe(needing);
  isLacking = false;
  expect(shown()).toBe(0);
});
