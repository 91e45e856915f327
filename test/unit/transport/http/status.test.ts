import { failure, type FailureCode } from '../../../../src/core/errors';
import { toRefusal } from '../../../../src/transport/responses';

describe('a failure over HTTP', () => {
  it.each<[FailureCode, number]>([
    ['invalid_request', 400],
    ['no_rules', 503],
    ['store_unavailable', 503],
    ['store_timeout', 503],
    ['draining', 503],
    ['internal', 500],
  ])('%s is status %i and keeps its code and message', (code, status) => {
    expect(toRefusal(failure(code, 'why'))).toMatchObject({ status, body: { error: 'why', code } });
  });
});
