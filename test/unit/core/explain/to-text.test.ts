import { descriptorLines } from '../../../../src/core/explain/to-text';

it('prints the rules that were passed over below the level that they stand on', () => {
  const why = 'a rule with exactly this value comes first';
  const lines = descriptorLines({
    entries: ['user=ann'],
    path: [
      {
        entry: 'user=ann',
        matched: 'value',
        rule: 'user=ann',
        at: 'shop.yaml:8:5',
        passedOver: [
          { rule: 'user', at: 'shop.yaml:3:5', why },
          { rule: 'user=a*', why },
        ],
      },
    ],
    noLimit: { reason: 'rule_has_no_limit', hint: 'the entry has no rate_limit' },
  });
  expect(lines).toEqual([
    'user=ann',
    '  user=ann: the rule user=ann (value, shop.yaml:8:5)',
    `    passed over: user (shop.yaml:3:5): ${why}`,
    `    passed over: user=a*: ${why}`,
    '    no limit: rule_has_no_limit: the entry has no rate_limit',
  ]);
});
