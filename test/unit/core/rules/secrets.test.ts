import { windowsAt } from '../../../../src/core/planning/windows';
import { planBatch } from '../../../../src/core/planning/plan';
import { toDecisionRecord } from '../../../../src/core/decision/decision-record';
import { compileRules } from '../../../../src/core/rules/compile';
import { dumpRules } from '../../../../src/core/rules/dump';
import { redactedRequest } from '../../../../src/core/rules/secrets';
import type { RequestDescriptor } from '../../../../src/core/model';
import { pathOf, toRuleTree } from '../../../../src/stats/dashboard/rule-tree';
import { Unmatched } from '../../../../src/stats/dashboard/unmatched';
import { descriptor, request } from '../../../support/requests';
import { createTokens, ROTATION_SECONDS, secretRules } from '../../../support/secret-rules';

const NOW = ROTATION_SECONDS + 3;
const tokens = createTokens(() => NOW);
const token = (value: string, id = 2, key = 'api_key') =>
  tokens.tokenUnder({ key, value }, id) ?? '';

const rules = secretRules(
  `
domain: shop
descriptors:
  - key: api_key
    hash_value: true
    rate_limit: { unit: day, requests_per_unit: 100 }
    descriptors:
      - key: path
        detailed_metric: true
        rate_limit: { unit: second, requests_per_unit: 10 }
      - key: plan
        value: free*
        share_threshold: true
        rate_limit: { unit: minute, requests_per_unit: 2 }
  - key: api_key
    value: in-file
    value_to_metric: true
    rate_limit: { unit: second, requests_per_unit: 7 }
  - key: api_key
    value: pk_live_*
    value_to_metric: true
    rate_limit: { unit: second, requests_per_unit: 8 }
  - key: api_key
    value_hash: ${token('gold-secret', 1)}
    rate_limit: { unit: second, requests_per_unit: 5000 }
  - key: api_key
    value_hash: ${tokens.tokenUnder({ key: 'api_key', value: 'silver-secret' }, 'sha256') ?? ''}
    rate_limit: { unit: second, requests_per_unit: 500 }
  - key: api_key
    value_hash: h9-${'0'.repeat(32)}
    rate_limit: { unit: second, requests_per_unit: 9 }
  - key: user
    rate_limit: { unit: second, requests_per_unit: 1 }
  - key: address
    hash_value: true
    rate_limit: { unit: day, requests_per_unit: 9, algorithm: gcra }
  - key: card
    hash_value: true
    rate_limit: { unit: minute, unit_multiplier: 5, requests_per_unit: 9 }
  - key: iban
    hash_value: true
    rate_limit: { unit: day, requests_per_unit: 9, calendar: true, time_zone: Asia/Kolkata }
`,
  tokens,
);

function plan(...descriptors: (RequestDescriptor | string)[]) {
  const options = { keyPrefix: '', ttlJitterSeconds: 0, holdBack: false };
  const windows = windowsAt(Math.floor(NOW));
  return planBatch(rules, [request('shop', descriptors)], windows, options, () => 0);
}

const keyOf = (one: RequestDescriptor | string) => plan(one).increments[0]?.key ?? '';
const second = `_${String(NOW)}`;
const day = `_${String(NOW - (NOW % 86_400))}`;
const path = descriptor(['api_key=abc', 'path=/cart']);
const limit = { requestsPerUnit: 3, unit: 4 };

describe('counter keys of secret values', () => {
  it.each([
    [
      'of a window that began after the rotation',
      path,
      `shop_api_key_${token('abc')}_path_/cart${second}`,
    ],
    ['of one that began before it', 'api_key=abc', `shop_api_key_${token('abc', 1)}${day}`],
    [
      'of a value that stands in the file',
      'api_key=in-file',
      `shop_api_key_${token('in-file')}${second}`,
    ],
    ['of a wildcard', 'api_key=pk_live_1', `shop_api_key_${token('pk_live_1')}${second}`],
    [
      'of a rule for a token',
      'api_key=gold-secret',
      `shop_api_key_${token('gold-secret')}${second}`,
    ],
    ['of a plain key', 'user=ann', `shop_user_ann${second}`],
    ['of an empty value', 'api_key=', `shop_api_key_${day}`],
    [
      'of a shared wildcard below',
      descriptor(['api_key=abc', 'plan=free1']),
      `shop_api_key_${token('abc', 1)}_plan_free*_${String(NOW - (NOW % 60))}`,
    ],
    [
      'of a bucket, which has no window: the key of now',
      'address=abc',
      `shop_address_${token('abc', 2, 'address')}_86400s~g4`,
    ],
    [
      'of a window of several units, which began before it',
      'card=abc',
      `shop_card_${token('abc', 1, 'card')}_${String(NOW - (NOW % 300))}`,
    ],
    [
      'of a day in another time zone, which began before it',
      'iban=abc',
      `shop_iban_${token('abc', 1, 'iban')}_${String(Date.UTC(2026, 10, 30, 18, 30) / 1_000)}~c4`,
    ],
    [
      'of a limit in a request, in any order',
      descriptor(['user=ann', 'api_key=abc'], { limit }),
      `shop_user_ann_api_key_${token('abc', 1)}${day}`,
    ],
  ])('hold its token %s', (_, one, key) => {
    expect(keyOf(one)).toBe(key);
  });

  it('join equal secret values of a batch, and no others', () => {
    const { increments } = plan('api_key=a', 'api_key=b', 'api_key=a');
    expect(increments.map(({ hits }) => hits)).toEqual([2, 1]);
  });
});

describe('rules for tokens', () => {
  const requests = (one: string) => plan(one).increments[0]?.limit;

  it.each([
    ['matches the value under any key of the file', 'api_key=gold-secret', 5_000],
    ['matches a plain hash', 'api_key=silver-secret', 500],
    ['matches no other value', 'api_key=gold', 100],
    ['leaves values in the file alone', 'api_key=in-file', 7],
    ['does not match the token itself', `api_key=${token('gold-secret', 1)}`, 100],
    ['does not match where its key is missing', `api_key=h9-${'0'.repeat(32)}`, 100],
  ])('%s', (_, one, limit) => {
    expect(requests(one)).toBe(limit);
  });
});

describe('everything outside of matching', () => {
  const metricOf = (one: RequestDescriptor | string) => plan(one).descriptorHits[0]?.metric;

  it.each([
    ['detailed_metric', path, `shop.api_key_${token('abc')}.path_/cart`],
    ['value_to_metric', 'api_key=pk_live_1', `shop.api_key_${token('pk_live_1')}`],
    ['a value in the file', 'api_key=in-file', `shop.api_key_${token('in-file')}`],
    ['a rule for a token', 'api_key=gold-secret', `shop.api_key_${token('gold-secret', 1)}`],
    ['a limit in a request', descriptor('api_key=abc', { limit }), `shop.api_key_${token('abc')}`],
  ])('names statistics by tokens: %s', (_, one, metric) => {
    expect(metricOf(one)).toBe(metric);
  });

  it('shows tokens in dumps of the rules and on the page', () => {
    const dump = dumpRules(rules).join('\n');
    expect(dump).toContain(`shop.api_key_${token('in-file')}: unit=SECOND`);
    expect(dump).toContain(`shop.api_key_${token('gold-secret', 1)}: unit`);
    const tree = JSON.stringify(toRuleTree(rules));
    expect(tree).toContain(`"value":"${token('in-file')}"`);
    expect(dump + tree).not.toContain('in-file');
  });

  it('shows the path of a hot key as its counter names it', () => {
    const [increment] = plan('api_key=abc').increments;
    const shown = increment && pathOf(rules, increment).entries;
    expect(shown).toEqual([['api_key', token('abc', 1)]]);
  });

  it('shows tokens in examples of unmatched descriptors', () => {
    const unmatched = new Unmatched(() => 0);
    const responder = { answer: () => true };
    const one = request('shop', [descriptor(['user=a', 'api_key=abc'])]);
    unmatched.record(rules, [{ request: one, responder, callId: 1 }]);
    const [shape] = unmatched.take(1);
    expect(shape?.example).toEqual(['a', token('abc')]);
  });

  it('writes tokens into decision records', () => {
    const decision = {
      kind: 'decision',
      overallCode: 'OK',
      statuses: [],
      responseHeaders: [],
      dynamicMetadata: undefined,
    } as const;
    const record = { time: 't', request: request('d', [path]), decision, metrics: [] };
    const { secrets } = rules;
    expect(JSON.stringify(toDecisionRecord({ ...record, secrets }))).toContain(
      `[["api_key","${token('abc')}"],["path","/cart"]]`,
    );
  });

  it('leaves requests alone where no key is secret', () => {
    const one = request('shop', [path]);
    expect(redactedRequest(undefined, one)).toBe(one);
  });
});

it('refuses to compile secret keys without tokens', () => {
  const domains = [{ domain: 'd', rules: [{ ...SOME_RULE, secret: 'keyed' as const }] }];
  expect(() => compileRules(domains)).toThrow('without tokens');
});

const SOME_RULE = {
  parent: -1,
  key: 'k',
  value: undefined,
  limit: undefined,
  shadowMode: false,
  quotaMode: false,
  detailedMetric: false,
  valueToMetric: false,
  shareThreshold: false,
  metadata: undefined,
};
