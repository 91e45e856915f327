import type { LimitDefinition } from '../../../../../src/core/rules/definition';
import {
  BACKENDS,
  whyNotCountable,
  type StoreAbilities,
} from '../../../../../src/core/rules/parse/store-abilities';

const PLAIN: LimitDefinition = {
  unit: 'MINUTE',
  requestsPerUnit: 10,
  unlimited: false,
  name: '',
  replaces: [],
};
const WITH_SCRIPTS: StoreAbilities = { kind: 'kvstore', scripts: true };
const WITHOUT_SCRIPTS: StoreAbilities = { kind: 'kvstore', scripts: false };
const MEMCACHED: StoreAbilities = { kind: 'memstore', scripts: false };

const GUARDED = [
  [{ algorithm: 'gcra' }, 'algorithm: gcra'],
  [{ algorithm: 'sliding_window', chargeDenied: true }, 'algorithm: sliding_window'],
  [{ chargeDenied: false }, 'charge_denied: false'],
  [{ algorithm: 'fixed_window', chargeDenied: false }, 'charge_denied: false'],
] as const;

describe('what a store can count by', () => {
  it.each(GUARDED)('refuses %j in memcached and without scripts', (fields, named) => {
    const limit = { ...PLAIN, ...fields };
    expect(whyNotCountable(limit, MEMCACHED)).toBe(
      `${named} cannot be counted in memcached; expected BACKEND_TYPE=kvstore or memory, or a fixed window without charge_denied: false`,
    );
    expect(whyNotCountable(limit, WITHOUT_SCRIPTS)).toBe(
      `${named} needs scripts; expected KVSTORE_SCRIPTS=true, or a fixed window without charge_denied: false`,
    );
  });

  it.each(GUARDED)('takes %j by scripts and in memory', (fields) => {
    const limit = { ...PLAIN, ...fields };
    expect(whyNotCountable(limit, WITH_SCRIPTS)).toBeUndefined();
    expect(whyNotCountable(limit, { kind: 'memory', scripts: false })).toBeUndefined();
  });

  it.each([
    {},
    { algorithm: 'fixed_window' },
    { chargeDenied: true },
    { algorithm: 'gcra', unlimited: true },
    { algorithm: 'gcra', requestsPerUnit: 0 },
  ] as const)('takes %j everywhere: nothing is looked at before it is charged', (fields) => {
    for (const kind of BACKENDS)
      for (const scripts of [true, false])
        expect(whyNotCountable({ ...PLAIN, ...fields }, { kind, scripts })).toBeUndefined();
  });
});
