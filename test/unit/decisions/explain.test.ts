import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../../src/core/errors';
import type { CounterExplanation } from '../../../src/core/explain/explanation';
import { explanationText } from '../../../src/core/explain/to-text';
import type { DecisionRequest, RequestDescriptor } from '../../../src/core/model';
import type { CounterReading, LimitsFrom } from '../../../src/core/ports';
import { compileRules } from '../../../src/core/rules/compile';
import type { ValueLimit } from '../../../src/core/rules/rules';
import { createDryCounters } from '../../../src/counters/dry-counters';
import type { DecisionOptions } from '../../../src/decisions/decide-batch';
import { explainRequest, type ExplainDeps } from '../../../src/decisions/explain';
import { PLAIN_DECISIONS } from '../../support/decider';
import { request } from '../../support/requests';
import { parseText } from '../../support/rule-texts';
import { runSteps } from '../../support/run-steps';
import { toRequest } from '../../support/scenario/play-scenario';
import { readTable } from '../../support/text-table';

/** What `with` says above an explanation. */
interface Setup extends Partial<DecisionOptions> {
  readonly counts?: Readonly<Record<string, number>>;
  /** The store says this of each counter, and no count. */
  readonly error?: string;
  /** The local cache knows each counter as over its limit. */
  readonly isKnown?: boolean;
  readonly lease?: CounterExplanation['lease'];
  /** The request brings it for each descriptor. */
  readonly limit?: RequestDescriptor['limit'];
  /** What the hash of limits_from holds. */
  readonly hash?: Readonly<Record<string, ValueLimit>>;
  readonly charge?: 'together';
}

const headers = { limit: 'L', remaining: 'R', reset: 'T' };

/** Limits in a hash, of which an instance knows what it has read. */
function limitsFrom(hash: Readonly<Record<string, ValueLimit>>): LimitsFrom {
  const known = new Map<string, ValueLimit>();
  return {
    limitOf: (_, value) => known.get(value),
    read: (_, value) => {
      const said = hash[value];
      if (said !== undefined) known.set(value, said);
      return Promise.resolve();
    },
  };
}

async function explain(rules: string, asked: DecisionRequest, setup: Setup = {}) {
  const { counts = {}, error, isKnown = false, lease, limit, hash, charge, ...options } = setup;
  const read = (key: string): CounterReading => ({
    count: counts[key] ?? 0,
    expiresInSeconds: counts[key] === undefined ? undefined : 42,
    store: 'memory',
    error: error === undefined ? undefined : new StoreError('store_unavailable', error),
  });
  const domains = parseText(rules).domains.map((one) => ({
    ...one,
    isChargedTogether: charge === 'together',
  }));
  const explanation = await runSteps(
    explainRequest(
      {
        ...asked,
        descriptors: asked.descriptors.map((one) => ({ ...one, limit })),
      },
      {
        rules: compileRules(domains),
        reader: { read: (places) => Promise.resolve(places.map(({ key }) => read(key))) },
        dryCounters: createDryCounters,
        knows: () => isKnown,
        leaseOf: () => lease,
        nowSeconds: 70,
      },
      { ...PLAIN_DECISIONS, ...options, ...(hash && { limitsFrom: limitsFrom(hash) }) },
    ),
  );
  if ('kind' in explanation) throw new Error(explanation.message);
  return explanation;
}

const TABLE = readTable(readFileSync(join(__dirname, 'explanations.txt'), 'utf8'));

it.each(TABLE)('explains $title', async ({ title, given, options, expected }) => {
  const explanation = await explain(given, toRequest(title, { domain: 'shop' }), options);
  expect(explanationText(explanation).trimEnd().split('\n')).toEqual(expected);
});

const USER = `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: minute, requests_per_unit: 10 }
`;

it('has limit, counter and what would be answered, with their places', async () => {
  const explanation = await explain(USER, request('shop', ['user=ann']), {
    counts: { shop_user_ann_60: 9 },
    isKnown: true,
    headers,
  });
  expect(explanation).toEqual({
    overallCode: 'OK',
    because: 'no descriptor is over its limit',
    descriptors: [
      {
        entries: ['user=ann'],
        path: [{ entry: 'user=ann', matched: 'any value', rule: 'user', at: 'rules.yaml:3:5' }],
        limit: {
          requestsPerUnit: 10,
          unit: 'MINUTE',
          algorithm: 'fixed_window',
          shadowMode: false,
          quotaMode: false,
          at: 'rules.yaml:4:17',
        },
        metric: 'shop.user',
        counter: {
          key: 'shop_user_ann_60',
          store: 'memory',
          count: 9,
          expiresInSeconds: 42,
          cachedOverLimit: true,
        },
        ifAsked: { hits: 1, code: 'OK', remaining: 0, resetSeconds: 50 },
      },
    ],
    responseHeaders: [
      ['L', '10'],
      ['R', '0'],
      ['T', '50'],
    ],
  });
  const rules = { version: 'sha256:3f9c', loadedAt: '2026-11-22T13:00:00Z', source: 'files' };
  const lines = explanationText({ ...explanation, rules } as typeof explanation).split('\n');
  expect(lines[1]).toBe('rules: sha256:3f9c of files, loaded 2026-11-22T13:00:00Z');
  expect(lines.slice(-4)).toEqual(['header L: 10', 'header R: 0', 'header T: 50', '']);
});

it('has no figures where the store does not answer, and none where there is no limit', async () => {
  const away = await explain(USER, request('shop', ['user=ann']), { error: 'away' });
  expect(away.overallCode).toBeUndefined();
  expect(away.responseHeaders).toEqual([]);
  expect(away.descriptors[0]).toMatchObject({ counter: { error: 'away' } });
  expect(away.descriptors[0]?.counter?.count).toBeUndefined();
  expect(away.descriptors[0]?.ifAsked).toBeUndefined();
  const [none] = (await explain(USER, request('shop', ['usr=ann']))).descriptors;
  expect([none?.limit, none?.counter, none?.ifAsked]).toEqual(Array(3).fill(undefined));
});

it('reads the limit of a value first, and has the field that it comes from', async () => {
  const rules = USER.replace('10 }', '10, limits_from: { key: plans } }');
  const hash = { big: 5_000 };
  const { descriptors } = await explain(rules, request('shop', ['user=big']), { hash });
  expect(descriptors[0]?.limit).toMatchObject({
    requestsPerUnit: 5_000,
    limitsFrom: { key: 'plans', field: 'big', value: 5_000 },
  });
});

it('refuses a request that makes no sense as the service does', async () => {
  await expect(explain(USER, request('shop', []))).rejects.toThrow(
    'descriptor list must not be empty',
  );
});

it('does not explain a request that the service itself could not decide', async () => {
  const deps: ExplainDeps = {
    rules: compileRules(parseText(USER).domains),
    reader: { read: () => Promise.resolve([]) },
    dryCounters: () => ({ add: () => Promise.resolve(undefined as never) }),
    knows: () => false,
    nowSeconds: 70,
  };
  const asked = request('shop', ['user=ann']);
  await expect(runSteps(explainRequest(asked, deps, PLAIN_DECISIONS))).rejects.toMatchObject({
    message: 'the request could not be explained',
    cause: expect.any(TypeError) as unknown,
  });
});
