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

it('prints what the proxy has hardly meant to send below the reason', () => {
  const lines = descriptorLines({
    entries: ['path=/a?x'],
    path: [],
    noLimit: { reason: 'no_entry_for_value', hint: 'none' },
    sent: 'it has a query',
  });
  expect(lines).toEqual(['path=/a?x', '  no limit: no_entry_for_value: none', '  it has a query']);
});

it('prints what is left of each limit, what is open and held, and blocks', () => {
  const counter = {
    key: '{c:d_k_v~1}~c',
    store: 'memory',
    count: 6,
    cachedOverLimit: false,
    limits: [
      { name: 'hour', remaining: 4, resetSeconds: 60 },
      { name: 'in_flight', remaining: 0, resetSeconds: 0 },
    ],
  };
  const linesOf = (more: object) =>
    descriptorLines({ entries: ['k=v'], path: [], counter: { ...counter, ...more } }).slice(1);
  expect(linesOf({ open: 2, held: 5, strikes: 1 })).toEqual([
    '  counter {c:d_k_v~1}~c in memory: count 6, 2 open, 5 held, refusals towards a block: 1',
    '  left: hour 4 (resets in 60 seconds), in_flight 0',
  ]);
  expect(linesOf({ limits: undefined, blockedSeconds: 31 })).toEqual([
    '  counter {c:d_k_v~1}~c in memory: count 6, blocked for 31 more seconds',
  ]);
});

it('prints which time zone data a calendar follows', () => {
  const limit = {
    ...({ requestsPerUnit: 1, unit: 'DAY', algorithm: 'fixed_window' } as const),
    ...{ words: '1 per calendar day in America/Vancouver', timeZoneData: '2026f of Weir' },
    ...{ shadowMode: false, quotaMode: false, at: 'shop.yaml:4:5' },
  } as const;
  expect(descriptorLines({ entries: ['k=v'], path: [], limit }).at(-1)).toBe(
    '  limit 1 per calendar day in America/Vancouver (fixed_window, time zones 2026f of Weir, shop.yaml:4:5)',
  );
});
