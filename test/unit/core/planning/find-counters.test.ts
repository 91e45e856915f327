import { windowsAt } from '../../../../src/core/planning/windows';
import { findCounters } from '../../../../src/core/planning/plan';
import { descriptor, request } from '../../../support/requests';
import { rulesOf } from '../../../support/rules';

const NOW = 1_795_240_205;
const RULES = rulesOf('shop', [
  { key: 'user', limit: [5, 'MINUTE'] },
  { key: 'free', limit: { unlimited: true } },
  { key: 'strict', limit: { requestsPerUnit: 1, unit: 'HOUR', replaces: ['loose'] } },
  { key: 'loose', limit: { requestsPerUnit: 9, unit: 'HOUR', name: 'loose' } },
]);
const find = (descriptors: Parameters<typeof request>[1]) =>
  findCounters(RULES, request('shop', descriptors), windowsAt(NOW), { keyPrefix: 'p:' });

it('finds one counter for each descriptor, equal ones too, and none where no limit applies', () => {
  const found = find([
    'user=ann',
    'nobody=x',
    'free=y',
    'user=ann',
    descriptor('user=bo', { hits: 0 }),
  ]);
  expect(found).toMatchObject([
    { key: 'p:shop_user_ann_1795240200', limit: 5, ttlSeconds: 60, hits: 1 },
    undefined,
    undefined,
    { key: 'p:shop_user_ann_1795240200' },
    { key: 'p:shop_user_bo_1795240200' },
  ]);
});

it('finds no counter of a rule that another one of the request replaces', () => {
  expect(find(['strict=a', 'loose=a'])).toMatchObject([{ limit: 1 }, undefined]);
});

it('says why a request makes no sense', () => {
  expect(find([])).toBe('rate limit descriptor list must not be empty');
});
