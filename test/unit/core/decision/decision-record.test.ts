import { toDecisionRecord } from '../../../../src/core/decision/decision-record';
import type { Decision } from '../../../../src/core/model';
import { descriptor, request } from '../../../support/requests';

const DECISION: Decision = {
  kind: 'decision',
  overallCode: 'OVER_LIMIT',
  statuses: [
    {
      code: 'OVER_LIMIT',
      currentLimit: { requestsPerUnit: 10, unit: 'SECOND', name: '' },
      limitRemaining: 0,
      secondsUntilReset: 1,
    },
    { code: 'OK', currentLimit: undefined, limitRemaining: 0, secondsUntilReset: undefined },
  ],
  responseHeaders: [],
  dynamicMetadata: undefined,
};
const RECORD = {
  time: '2026-11-22T14:00:00.000Z',
  request: request('shop', ['user=ann', descriptor('path=/', { hits: 3 })]),
  decision: DECISION,
  metrics: ['shop.user', undefined],
  secrets: undefined,
};
const LINE = {
  time: '2026-11-22T14:00:00.000Z',
  domain: 'shop',
  descriptors: [[['user', 'ann']], [['path', '/']]],
  hits: [1, 3],
  rules: ['shop.user', null],
  code: 'OVER_LIMIT',
  statuses: [['OVER_LIMIT', 10, 'SECOND', 0], ['OK']],
};

it('says a decision in plain JSON, null for a descriptor without a rule', () => {
  expect(toDecisionRecord(RECORD)).toEqual(LINE);
});

it('adds what is true of it alone', () => {
  const traceId = '0'.repeat(31) + '1';
  const leased = [true, false];
  const applying = { limits: ['hour', undefined], isShadow: true, isQuota: true, leased, traceId };
  expect(toDecisionRecord({ ...RECORD, ...applying })).toEqual({
    ...LINE,
    limits: ['hour', null],
    shadow: true,
    quota: true,
    leased,
    trace: traceId,
  });
});
