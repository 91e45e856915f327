import { readDecision, type RateLimitDecision } from '../../../src/client/decision';
import type { RawRateLimitResponse } from '../../../src/platform/rate-limit-response';

const LIMIT = { name: 'ten', requestsPerUnit: 10, unit: 'MINUTE' };
const over = (seconds: string, currentLimit: object = LIMIT) => ({
  code: 'OVER_LIMIT',
  currentLimit,
  durationUntilReset: { seconds },
});

/** The answer to a refused call of so many hits. */
const refused = (hits: number, ...statuses: readonly object[]) =>
  readDecision({ overallCode: 'OVER_LIMIT', statuses }, hits) as RateLimitDecision;

describe('Retry-After', () => {
  it('is the longest wait of the limits that refuse', () => {
    const open = { code: 'OK', currentLimit: LIMIT, durationUntilReset: { seconds: '90' } };
    expect(refused(1, over('5'), open, over('60')).headers).toEqual({ 'Retry-After': '60' });
  });

  it('is a second at least', () => {
    expect(refused(1, { code: 'OVER_LIMIT', currentLimit: LIMIT }).headers).toEqual({
      'Retry-After': '1',
    });
  });

  it('is not said where waiting does not help, or nobody knows', () => {
    expect(refused(11, over('5')).headers).toEqual({});
    expect(refused(1).headers).toEqual({});
  });
});

it.each<[RawRateLimitResponse, object]>([
  [{ overallCode: 'OK' }, { allowed: true, limit: undefined, limits: [] }],
  [
    { overallCode: 'OK', statuses: [{ code: 'OK', limitRemaining: 4_294_967_295 }] },
    { limit: undefined, remaining: undefined, limits: [undefined] },
  ],
  [
    { overallCode: 'OK', statuses: [over('5'), { code: 'OK', currentLimit: {} }] },
    { allowed: true, limit: 10, remaining: 0, resetSeconds: 5 },
  ],
  [
    { overallCode: 'OVER_LIMIT', statuses: [{ currentLimit: LIMIT }, over('3', { unit: 9 })] },
    { allowed: false, limit: 0, resetSeconds: 3 },
  ],
])('reads %j', (raw, expected) => {
  expect(readDecision(raw, 1)).toMatchObject(expected);
});

it('reads every field of a limit', () => {
  const currentLimit = { ...LIMIT, unitMultiplier: { value: 5 } };
  const durationUntilReset = { seconds: '7', nanos: 1 };
  const statuses = [{ code: 'OK', currentLimit, limitRemaining: 3, durationUntilReset }];
  const odd = { code: 'OK', currentLimit: { unit: 9, unitMultiplier: {} } };
  expect(readDecision({ overallCode: 'OK', statuses: [...statuses, odd] }, 1)).toMatchObject({
    limits: [
      {
        ...{ name: 'ten', limit: 10, unit: 'minute', unitMultiplier: 5 },
        ...{ remaining: 3, resetSeconds: 8, limited: false },
      },
      { name: '', limit: 0, unit: 'unknown', remaining: 0, resetSeconds: 0 },
    ],
  });
});
