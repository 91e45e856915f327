import { hitsOf, MAX_HITS, validateRequest } from '../../../../src/core/decision/request';
import { descriptor, request } from '../../../support/requests';

const with1 = (more: Parameters<typeof descriptor>[1]) =>
  request('shop', [descriptor('a=b', more)]);
const ofUnit = (unit: number) => with1({ limit: { requestsPerUnit: 1, unit } });

describe('a request', () => {
  it.each<[string, ReturnType<typeof request>, string | undefined]>([
    ['as any other', request('shop', ['a=b']), undefined],
    ['a domain that is empty', request('', ['a=b']), 'rate limit domain must not be empty'],
    ['no descriptors', request('shop', []), 'rate limit descriptor list must not be empty'],
    ['a limit of its own', ofUnit(1), undefined],
    ['a limit by the week', ofUnit(7), undefined],
    [
      'a limit without a unit',
      ofUnit(0),
      'limit of a descriptor has the unit 0, which is not one of 1 (SECOND) to 7 (WEEK)',
    ],
    [
      'a limit of an unknown unit behind a good one',
      request('shop', [
        descriptor('a=b', { limit: { requestsPerUnit: 1, unit: 1 } }),
        descriptor('a=b', { limit: { requestsPerUnit: 1, unit: 8 } }),
      ]),
      'limit of a descriptor has the unit 8, which is not one of 1 (SECOND) to 7 (WEEK)',
    ],
    ['as many hits as a store can add', with1({ hits: MAX_HITS }), undefined],
    [
      'more hits than a store can add',
      with1({ hits: MAX_HITS + 1n }),
      'hits_addend 9223372036854775808 of a descriptor is above 9223372036854775807',
    ],
  ])('with %s', (_, asked, fault) => {
    expect(validateRequest(asked)).toBe(fault);
  });

  it.each<[string, number, Parameters<typeof descriptor>[1], number | bigint]>([
    ['one hit where nothing says how many', 0, {}, 1],
    ['as many as the request says', 3, {}, 3],
    ['as many as its descriptor says', 3, { hits: 2 }, 2],
    ['none where its descriptor says so', 3, { hits: 0 }, 0],
    ['hits back', 0, { hits: 2, isNegativeHits: true }, -2],
    [
      'hits back that no number can hold',
      0,
      { hits: 2n ** 60n, isNegativeHits: true },
      -(2n ** 60n),
    ],
    ['none back', 0, { hits: 0, isNegativeHits: true }, 0],
  ])('takes %s', (_, addend, more, hits) => {
    const one = descriptor('a=b', more);
    expect(hitsOf(request('shop', [one], addend), one)).toBe(hits);
  });
});
