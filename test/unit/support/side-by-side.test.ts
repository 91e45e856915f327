import { parseRules } from '../../../src/rule-sources/parse-rules';
import { areNear, comparable, partsOf } from '../../side-by-side/compare';
import { makeUp } from '../../side-by-side/scenarios';

const ALL = { middle: true, quota: true, hasOverrides: true };

it('makes up the same scenario from the same seed, and rules without a mistake from every one', () => {
  expect(makeUp(7, ALL)).toEqual(makeUp(7, ALL));
  for (let seed = 0; seed < 300; seed += 1) {
    const { rules, domain } = makeUp(seed, ALL);
    const files = [{ file: `${domain}.yaml`, bytes: Buffer.from(rules) }];
    const { problems } = parseRules(files, { mergeDomains: false });
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  }
});

it('makes up nothing that a release lacks', () => {
  const none = { middle: false, quota: false, hasOverrides: false };
  for (let seed = 0; seed < 300; seed += 1) {
    const { rules, requests } = makeUp(seed, none);
    expect(rules).not.toMatch(/"value":"[^"]*\*[^"]|quota_mode/);
    expect(JSON.stringify(requests)).not.toContain('"limit"');
  }
});

it('compares what was counted but for unlimited rules, and names shared patterns up to their star', () => {
  const counted = {
    'ratelimit.service.rate_limit.s1.path_shared-*.total_hits': 2,
    'ratelimit.service.rate_limit.s1.path_shared-.total_hits': 1,
    'ratelimit.service.rate_limit.s1.unlimited_10.*.7.total_hits': 3,
    'ratelimit.service.rate_limit.s12.path.total_hits': 4,
  };
  expect(comparable(counted, makeUp(1, ALL))).toEqual({ 's1.path_shared-.total_hits': 3 });
});

it('compares answers whole, and times within a second', () => {
  const answer = (seconds: string, reset: string) =>
    partsOf({
      overallCode: 'OK',
      statuses: [{ code: 'OK', durationUntilReset: { seconds } }],
      responseHeadersToAdd: [
        { key: 'RateLimit-Limit', value: '5' },
        { key: 'RateLimit-Reset', value: reset },
      ],
    });
  const [one, other] = [answer('7', '8'), answer('8', '7')];
  expect(one.fixed).toBe(other.fixed);
  expect(areNear(one.seconds, other.seconds)).toBe(true);
  expect(areNear(one.seconds, answer('9', '8').seconds)).toBe(false);
  expect(areNear([1], [])).toBe(false);
  expect(partsOf(undefined).seconds).toEqual([]);
});
