import type { HotKeyView, LiveFigures } from '../../../../src/stats/dashboard/live-figures';
import { mergeFigures } from '../../../../src/stats/dashboard/merge-figures';

const QUIET: LiveFigures = {
  requests: 0,
  hits: [0, 0, 0, 0],
  batch: undefined,
  response: undefined,
  store: undefined,
  unknownDomains: 0,
  serviceErrors: 0,
  storeErrors: 0,
  storeTimeouts: 0,
  breakerOpen: 0,
  answeredLocally: 0,
  abandoned: 0,
  globalShadow: 0,
  rules: [],
  domains: [],
  hot: [],
  hotError: 0,
  unmatched: [],
  gauges: {},
};
const OWN = { response: { p50: 1, p99: 2 }, gauges: { 'ratelimit.redis_pool.cx_active': 4 } };

const key = (id: string, perSecond: number, more: Partial<HotKeyView> = {}): HotKeyView => ({
  ...{ id, domain: 'shop', entries: undefined, text: id, rule: 0, perSecond },
  ...{ value: 1, isOver: false, limit: 10, per: 'hour', resetsIn: 60, ...more },
});

it('shows what several processes do as if one did it', () => {
  const one: LiveFigures = {
    ...QUIET,
    requests: 100,
    hits: [10, 1, 0, 0],
    batch: { mean: 10, largest: 12 },
    store: { p50: 1, p99: 9 },
    storeErrors: 1,
    abandoned: 3,
    rules: [
      [0, 10, 1, 0, 0],
      [3, 1, 0, 0, 0],
    ],
    hotError: 0.5,
    unmatched: [{ domain: 'a', keys: ['k'], example: ['v'], further: 0, perSecond: 1, total: 2 }],
  };
  const two: LiveFigures = {
    ...QUIET,
    requests: 20,
    hits: [20, 0, 2, 1],
    batch: { mean: 1, largest: 2 },
    store: { p50: 2, p99: 3 },
    rules: [[0, 20, 0, 2, 1]],
    hotError: 0.25,
    unmatched: [
      { domain: 'b', keys: undefined, example: [], further: 0, perSecond: 9, total: 9 },
      { domain: 'a', keys: ['k'], example: ['w'], further: 0, perSecond: 2, total: 3 },
    ],
  };
  expect(mergeFigures([one, two, QUIET], OWN)).toMatchObject({
    ...{ requests: 120, hits: [30, 1, 2, 1], batch: { mean: 4, largest: 12 } },
    ...{ store: { p50: 2, p99: 9 }, storeErrors: 1, abandoned: 3, hotError: 0.75 },
    rules: [
      [0, 30, 1, 2, 1],
      [3, 1, 0, 0, 0],
    ],
    unmatched: [
      { domain: 'b', total: 9 },
      { domain: 'a', perSecond: 3, total: 5 },
    ],
    ...OWN,
  });
});

it('adds the rates of a key that several processes count, and shows the latest counter', () => {
  const { hot } = mergeFigures(
    [
      { ...QUIET, hot: [key('x', 5, { value: 7 }), key('y', 6)] },
      {
        ...QUIET,
        hot: [key('x', 3, { value: 9, isOver: true }), key('z', 1, { value: undefined })],
      },
    ],
    OWN,
  );
  expect(hot).toMatchObject([
    { id: 'x', perSecond: 8, value: 9, isOver: true },
    { id: 'y', perSecond: 6 },
    { id: 'z', perSecond: 1, value: undefined },
  ]);
});

it('is quiet without processes', () => {
  expect(mergeFigures([], { response: undefined, gauges: {} })).toEqual(QUIET);
});
