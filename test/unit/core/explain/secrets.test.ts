import { explainPath } from '../../../../src/core/explain/explain-path';
import { listRules } from '../../../../src/core/explain/list-rules';
import type { DomainRules } from '../../../../src/core/rules/rules';
import { finish } from '../../../../src/core/steps';
import {
  requestOfTokens,
  redactedRequest,
  takeTokens,
  type Secrets,
} from '../../../../src/core/rules/secrets';
import { request } from '../../../support/requests';
import { createTokens, ROTATION_SECONDS, secretRules } from '../../../support/secret-rules';

const tokens = createTokens(() => ROTATION_SECONDS);
const token = (value: string, id = 2) => tokens.tokenUnder({ key: 'api_key', value }, id) ?? '';

const TEXT = `
domain: shop
descriptors:
  - key: api_key
    value: in-file
    rate_limit: { unit: second, requests_per_unit: 7 }
  - key: api_key
    value_hash: ${token('gold', 1)}
    rate_limit: { unit: second, requests_per_unit: 5000 }
  - key: user
    descriptors:
      - key: api_key
        value: below
        rate_limit: { unit: second, requests_per_unit: 5000 }
  - key: api_key
    value: pk_*
    hash_value: true
    rate_limit: { unit: second, requests_per_unit: 5000 }
`;
const rules = secretRules(TEXT, tokens);

const explain = (pairs: Readonly<Record<string, string>>, compiled = rules) =>
  finish(
    explainPath(
      compiled.domains.get('shop') as DomainRules,
      Object.entries(pairs).map(([key, value]) => ({ key, value })),
      compiled.places,
    ),
  );

describe('explanations of secret values', () => {
  it.each([
    ['in-file', `api_key=${token('in-file')}`],
    ['gold', `api_key=${token('gold', 1)}`],
    ['pk_live', 'api_key=pk_*'],
  ])('name the token and the rule as the statistics do: %s', (value, rule) => {
    expect(explain({ api_key: value }).path).toMatchObject([
      { entry: `api_key=${token(value)}`, rule },
    ]);
  });

  it.each([
    ['a value that nothing matches', { api_key: 'plain-unmatched' }, 'in-file'],
    ['an order that would match', { api_key: 'below', user: 'ann' }, 'below'],
    ['a value below a plain one', { user: 'ann', api_key: 'plain-unmatched' }, 'below'],
  ])('hold no value: %s', (_, pairs, hidden) => {
    const text = JSON.stringify(explain(pairs));
    expect(text).toContain(token(hidden));
    expect(text).not.toMatch(/plain-unmatched|"below|=below|in-file/);
  });
});

it('explanations hold nothing of a value that looks like a command of a proxy', () => {
  expect(JSON.stringify(explain({ api_key: '%REQ(plain-unmatched)%' }))).not.toMatch(
    /plain-unmatched/,
  );
});

it('lists rules of secret values by their tokens', () => {
  expect([...listRules(rules, 0, 10)].map((rule) => rule?.path.join())).toEqual([
    `api_key=${token('in-file')}`,
    `api_key=${token('gold', 1)}`,
    'api_key=pk_*',
    `user,api_key=${token('below')}`,
  ]);
});

it('takes tokens for their values where an operator or a log names them', () => {
  const { secrets } = rules;
  const ruleOf = (value: string) => {
    const [entry] = takeTokens(secrets as Secrets, [{ key: 'api_key', value }]);
    return explain({ api_key: entry?.value ?? '' }).path[0];
  };
  expect(ruleOf('gold')).toMatchObject({ rule: `api_key=${token('gold', 1)}` });
  expect(ruleOf(token('gold', 1))).toMatchObject({
    entry: `api_key=${token('gold', 1)}`,
    rule: `api_key=${token('gold', 1)}`,
  });
  expect(explain({ api_key: token('gold', 1) }).noLimit).toMatchObject({
    reason: 'no_entry_for_value',
  });
  const asked = request('shop', [`api_key=${token('gold', 1)}`, 'user=ann']);
  expect(requestOfTokens(undefined, asked)).toBe(asked);
  expect(redactedRequest(secrets, requestOfTokens(secrets, asked))).toEqual(asked);
});
