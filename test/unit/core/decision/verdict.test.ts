import type { DescriptorHit } from '../../../../src/core/planning/plan';
import type { JsonObject } from '../../../../src/core/model';
import { secondsUntilReset, windowsAt } from '../../../../src/core/planning/windows';
import { dynamicMetadata, limitHeaders, overallCode } from '../../../../src/core/decision/response';
import {
  evaluate,
  evaluateUnlimited,
  nearLimitThreshold,
  NO_LIMIT,
  type Verdict,
} from '../../../../src/core/decision/verdict';
import { descriptor, request } from '../../../support/requests';
import { rulesOf, type RuleSketch } from '../../../support/rules';

const windows = windowsAt(1_795_240_201);

function hitFor(sketch: Omit<RuleSketch, 'key'>, hits: number): DescriptorHit {
  const top = rulesOf('d', [{ key: 'k', ...sketch }]).domains.get('d')?.top;
  const limit = top === undefined || top instanceof Map ? undefined : top.anyValue?.limit;
  if (limit === undefined) throw new Error('no limit');
  return { limit, metric: 'd.k', hits, increment: 0, cumulativeHits: hits };
}

const options = { nearLimitRatio: 0.8, quotaMode: false };

/** The verdict on an ask after which its counter stands there. */
function verdictAt(hit: DescriptorHit, after: number, isHeld = false): Verdict {
  const { limiter } = hit.limit;
  const windowEndSeconds = windows.second + secondsUntilReset(hit.limit, windows);
  const asked = { limiter, hits: hit.hits, times: 1, windowEndSeconds };
  const outcome = limiter.kind.outcome(asked, after, hit.hits, 0, windows.second);
  return evaluate(hit, limiter, outcome, isHeld, options);
}

describe('evaluate', () => {
  it.each([
    // limit, hits, after → code, remaining, over, near, within
    [10, 1, 1, 'OK', 9, 0, 0, 1],
    [10, 1, 8, 'OK', 2, 0, 0, 1],
    [10, 1, 9, 'OK', 1, 0, 1, 1],
    [10, 4, 10, 'OK', 0, 0, 2, 4],
    [10, 2, 10, 'OK', 0, 0, 2, 2],
    [10, 1, 11, 'OVER_LIMIT', 0, 1, 0, 0],
    [10, 5, 12, 'OVER_LIMIT', 0, 2, 2, 0],
    [10, 3, 12, 'OVER_LIMIT', 0, 2, 1, 0],
    [10, 20, 20, 'OVER_LIMIT', 0, 10, 2, 0],
    [0, 1, 1, 'OVER_LIMIT', 0, 1, 0, 0],
    [10, 0, 11, 'OVER_LIMIT', 0, 0, 0, 0],
    [10, -3, 4, 'OK', 6, 0, 0, 0],
    [10, 1, -1, 'OK', 10, 0, 0, 1],
  ])('limit %d, %d hits, then at %d: %s, %d left, %d over, %d near, %d within', (...row) => {
    const [limit, hits, after, code, limitRemaining, overLimit, nearLimit, withinLimit] = row;
    const verdict = verdictAt(hitFor({ limit: [limit, 'HOUR'] }, hits), after);
    expect(verdict).toMatchObject({
      overLimit,
      nearLimit,
      withinLimit,
      totalHits: Math.max(hits, 0),
      totalNegativeHits: hits < 0 ? -hits : 0,
    });
    expect(verdict.status).toEqual({
      code,
      currentLimit: { requestsPerUnit: limit, unit: 'HOUR', name: '' },
      limitRemaining,
      secondsUntilReset: 599,
    });
  });

  it('reports OK in shadow mode and counts what it overrode', () => {
    const verdict = verdictAt(hitFor({ shadowMode: true, limit: [1, 'DAY'] }, 3), 4);
    expect(verdict).toMatchObject({
      overLimit: 3,
      shadowMode: 3,
      status: { code: 'OK', limitRemaining: 0 },
    });
  });

  it('counts no near-limit hits for an increment that was held back', () => {
    const verdict = verdictAt(hitFor({ limit: [10, 'DAY'] }, 1), 10, true);
    expect(verdict).toMatchObject({ nearLimit: 0, withinLimit: 1, totalHits: 1 });
  });

  it('counts an unlimited rule in the statistics only', () => {
    const verdict = evaluateUnlimited(hitFor({ limit: { unlimited: true } }, 5));
    expect(verdict).toMatchObject({
      totalHits: 5,
      withinLimit: 5,
      overLimit: 0,
      enforcement: 'none',
    });
    expect(verdict.status).toMatchObject({ code: 'OK', limitRemaining: 4_294_967_295 });
  });
});

it.each([
  [10, 0.8, 8],
  [3, 0.8, 2],
  [7, 0.5, 3],
  [10, 0.7, 7],
  [10, 0.9, 9],
  [4_294_967_295, 0.8, 3_435_973_888],
  [10, 1, 10],
  [0, 0.8, 0],
])('of the limit %d the ratio %d is %d, in 32-bit floats', (limit, ratio, near) => {
  expect(nearLimitThreshold(limit, ratio)).toBe(near);
});

const verdict = (
  code: 'OK' | 'OVER_LIMIT',
  enforcement: Verdict['enforcement'],
  remaining = 0,
  requestsPerUnit = 9,
): Verdict => ({
  ...verdictAt(hitFor({ limit: [requestsPerUnit, 'HOUR'] }, 1), 1),
  enforcement,
  status: {
    code,
    currentLimit: { requestsPerUnit, unit: 'HOUR', name: '' },
    limitRemaining: remaining,
    secondsUntilReset: 5,
  },
});
const ok = verdict('OK', 'hard', 3);
const over = verdict('OVER_LIMIT', 'hard');
const quotaOk = verdict('OK', 'quota', 1, 7);
const quotaOver = verdict('OVER_LIMIT', 'quota', 0, 8);
const free = { ...evaluateUnlimited(hitFor({ limit: { unlimited: true } }, 1)) };

describe('overallCode', () => {
  it.each([
    ['no rule at all', [undefined], false, 'OK'],
    ['a hard limit that is over', [ok, over], false, 'OVER_LIMIT'],
    ['one of two quotas over', [quotaOver, quotaOk], false, 'OK'],
    ['all quotas over', [quotaOver, quotaOver], false, 'OVER_LIMIT'],
    ['a quota over beside a hard limit that is not', [ok, quotaOver], false, 'OVER_LIMIT'],
    ['a quota over beside no rule', [quotaOver, undefined], false, 'OVER_LIMIT'],
    ['the same under QUOTA_MODE', [quotaOver, undefined], true, 'OK'],
    ['a quota over beside an unlimited rule', [quotaOver, free], true, 'OVER_LIMIT'],
    ['no quota over', [quotaOk], true, 'OK'],
  ] as const)('%s', (_, verdicts, quotaMode, code) => {
    expect(overallCode(verdicts, quotaMode)).toBe(code);
  });
});

describe('limitHeaders', () => {
  const names = { limit: 'L', remaining: 'M', reset: 'R' };
  const limitOf = (verdicts: readonly (Verdict | undefined)[]) =>
    limitHeaders(verdicts, names)[0]?.value;

  it('describe the least remaining, the first of equals', () => {
    expect(limitHeaders([ok, undefined, quotaOk], names)).toEqual([
      { key: 'L', value: '7' },
      { key: 'M', value: '1' },
      { key: 'R', value: '5' },
    ]);
    expect(limitOf([verdict('OK', 'hard', 0, 1), quotaOver])).toBe('1');
  });

  it('describe the last hard limit that is over', () => {
    expect(limitOf([over, verdict('OVER_LIMIT', 'hard', 0, 4), quotaOver])).toBe('4');
  });

  it('are none where no limit applies', () => {
    expect(limitHeaders([undefined, free], names)).toEqual([]);
  });
});

describe('dynamicMetadata', () => {
  it('tells what was asked and merges what passed; the first value of a name stays', () => {
    const asked = request('d', [descriptor(['a=1', 'b']), descriptor('c=2', { hits: 0 })], 3);
    const withMetadata = (from: Verdict, metadata: JsonObject): Verdict => ({
      ...from,
      limit: { ...from.limit, metadata },
    });
    const verdicts = [
      withMetadata(ok, { owner: 'x' }),
      withMetadata(over, { hidden: true }),
      withMetadata({ ...ok, status: NO_LIMIT }, { unknown: true }),
      withMetadata(ok, { owner: 'y', tier: 1 }),
      undefined,
    ];
    expect(dynamicMetadata(asked, verdicts, 'OK')).toEqual({
      domain: 'd',
      descriptors: [{ entries: ['a=1', 'b='] }, { entries: ['c=2'], hitsAddend: 0 }],
      hitsAddend: 3,
      metadata: { owner: 'x', tier: 1 },
    });
  });

  it('names the rule that decided where the request is refused: a hard limit before quotas', () => {
    const named = { ...over, metric: 'shop.user', limit: { ...over.limit, name: 'users' } };
    const asked = request('d', ['a=1']);
    expect(dynamicMetadata(asked, [quotaOver, undefined, named], 'OVER_LIMIT')).toMatchObject({
      limitedBy: 'shop.user',
      limitedByName: 'users',
    });
    expect(dynamicMetadata(asked, [quotaOver], 'OVER_LIMIT')).toStrictEqual({
      domain: 'd',
      descriptors: [{ entries: ['a=1'] }],
      limitedBy: quotaOver.metric,
    });
    for (const said of [
      dynamicMetadata(asked, [named], 'OK'),
      dynamicMetadata(asked, [ok], 'OVER_LIMIT'),
    ])
      expect(said).not.toHaveProperty('limitedBy');
  });
});
