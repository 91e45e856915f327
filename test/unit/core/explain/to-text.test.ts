import { descriptorLines } from '../../../../src/core/explain/to-text';

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
