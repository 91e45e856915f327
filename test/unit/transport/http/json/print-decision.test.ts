import type { Decision } from '../../../../../src/core/model';
import { printDecision } from '../../../../../src/transport/http/json-endpoint';

const DECISION: Decision = {
  kind: 'decision',
  overallCode: 'OK',
  statuses: [],
  responseHeaders: [],
  dynamicMetadata: undefined,
};
const STATUS = {
  code: 'OK',
  currentLimit: undefined,
  limitRemaining: 0,
  secondsUntilReset: undefined,
} as const;

describe('a decision in proto3 JSON', () => {
  it('leaves out what holds its default', () => {
    expect(printDecision({ ...DECISION, statuses: [STATUS] })).toBe(
      '{"overallCode":"OK","statuses":[{"code":"OK"}]}',
    );
    expect(printDecision(DECISION)).toBe('{"overallCode":"OK"}');
  });

  it('holds all that there is', () => {
    const printed = printDecision({
      ...DECISION,
      overallCode: 'OVER_LIMIT',
      statuses: [
        {
          code: 'OVER_LIMIT',
          currentLimit: { requestsPerUnit: 2, unit: 'HOUR', name: '' },
          limitRemaining: 0,
          secondsUntilReset: 583,
        },
        {
          ...STATUS,
          currentLimit: { requestsPerUnit: 0, unit: 'DAY', name: 'n' },
          limitRemaining: 4_294_967_295,
          secondsUntilReset: 0,
        },
      ],
      responseHeaders: [
        { key: 'RateLimit-Limit', value: '4' },
        { key: 'x', value: '' },
      ],
      rawBody: '{"title":"é"}',
      dynamicMetadata: { domain: 'd', nothing: null, list: [1, 'é'] },
    });
    expect(JSON.parse(printed)).toEqual({
      overallCode: 'OVER_LIMIT',
      statuses: [
        {
          code: 'OVER_LIMIT',
          currentLimit: { requestsPerUnit: 2, unit: 'HOUR' },
          durationUntilReset: '583s',
        },
        {
          code: 'OK',
          currentLimit: { name: 'n', unit: 'DAY' },
          limitRemaining: 4_294_967_295,
          durationUntilReset: '0s',
        },
      ],
      responseHeadersToAdd: [{ key: 'RateLimit-Limit', value: '4' }, { key: 'x' }],
      rawBody: Buffer.from('{"title":"é"}').toString('base64'),
      dynamicMetadata: { domain: 'd', nothing: null, list: [1, 'é'] },
    });
  });
});
