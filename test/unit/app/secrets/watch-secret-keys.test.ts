import { BehaviorSubject, Subject } from 'rxjs';
import { watchSecretKeys, createIdsInUse } from '../../../../src/app/secrets/watch-secret-keys';
import type { Claim } from '../../../../src/counters/redis/notes';
import { parseSecretKeys } from '../../../../src/platform/secret-keys';
import { createRegistry } from '../../../../src/stats/registry';
import { createRecordingLogger } from '../../../support/recording-logger';
import {
  createTokens,
  ROTATION_SECONDS,
  secretRules,
  TWO_KEYS,
} from '../../../support/secret-rules';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const MISMATCH = 'ratelimit.service.secret_key_mismatch';
const RULES = `
domain: shop
descriptors:
  - key: api_key
    hash_value: true
    rate_limit: { unit: day, requests_per_unit: 1 }
    descriptors:
      - key: path
        value: /v*
        rate_limit: { unit: second, requests_per_unit: 1 }
  - key: open
    rate_limit: { unit: year, requests_per_unit: 1 }
`;

/** A store that several instances share; `undefined` is one that is away. */
function start(store: Map<string, string> | undefined, keysText = TWO_KEYS) {
  const connected$ = new Subject<boolean>();
  const held = new BehaviorSubject(store);
  const registry = createRegistry();
  const { logger, lines } = createRecordingLogger();
  const claims: Claim[] = [];
  let clock = ROTATION_SECONDS;
  const rules = {
    current: secretRules(
      RULES,
      createTokens(() => clock),
    ),
  };
  const watch = watchSecretKeys({
    keys: () => parseSecretKeys(keysText),
    keyPrefix: 'p:',
    claim: (claim) => {
      claims.push(claim);
      const map = held.value;
      if (map === undefined) return Promise.reject(new Error('away'));
      if (!map.has(claim.key)) map.set(claim.key, claim.text);
      return Promise.resolve(map.get(claim.key) ?? '');
    },
    connected$,
    rules,
    clock: () => clock,
    statistics: registry,
    logger,
  });
  const subscription = watch.run$.subscribe();
  return {
    watch,
    claims,
    lines,
    gauge: () => registry.readGauges().get(MISMATCH),
    use: (map: Map<string, string> | undefined) => {
      held.next(map);
    },
    /** Looks once more and waits for the end of it. */
    async look() {
      connected$.next(true);
      await jest.advanceTimersByTimeAsync(0);
    },
    at(seconds: number) {
      clock = seconds;
    },
    stop() {
      watch.close();
      subscription.unsubscribe();
    },
  };
}

const others = () => new Map([['p:weir:key:2', 'another']]);

it('writes a text for each key, from which nobody learns the key, with a time to live', async () => {
  const store = new Map<string, string>();
  const one = start(store);
  await one.look();
  expect(one.claims).toHaveLength(2);
  expect([...store.keys()]).toEqual(['p:weir:key:1', 'p:weir:key:2']);
  for (const text of store.values()) expect(text).toMatch(/^[0-9a-f]{16}$/);
  expect(one.claims.map(({ ttlSeconds }) => ttlSeconds)).toEqual([600, 600]);
  expect([one.gauge(), one.watch.agrees.current]).toEqual([0, true]);
  one.stop();
});

it('disagrees while it has never agreed, and agrees again with the right keys', async () => {
  const one = start(others());
  await one.look();
  expect(one.watch.agrees.current).toBe(false);
  expect(one.gauge()).toBe(1);
  expect(one.lines.filter(({ level }) => level === 'error')).toMatchObject([
    { fields: { ids: '2' } },
  ]);
  one.use(new Map());
  await one.look();
  expect(one.watch.agrees.current).toBe(true);
  expect(one.gauge()).toBe(0);
  one.stop();
});

it('goes on agreeing after another instance came first with other keys, and says so', async () => {
  const one = start(new Map());
  await one.look();
  expect(one.claims).toHaveLength(2);
  one.use(others());
  await one.look();
  expect(one.gauge()).toBe(1);
  expect(one.watch.agrees.current).toBe(true);
  expect(one.lines.some(({ level }) => level === 'error')).toBe(true);
  one.stop();
});

it('knows nothing new while the store is away', async () => {
  const one = start(undefined);
  await one.look();
  expect(one.lines.some(({ level }) => level === 'debug')).toBe(true);
  expect([one.gauge(), one.watch.agrees.current]).toEqual([0, true]);
  one.stop();
});

it('says which keys are in use when that changes', async () => {
  const one = start(new Map());
  const told = () =>
    one.lines.filter(({ level }) => level === 'info').map(({ fields }) => fields['ids']);
  await one.look();
  expect(told()).toEqual(['1, 2']);
  one.at(ROTATION_SECONDS + 86_400);
  await one.look();
  expect(told()).toEqual(['1, 2', '2']);
  one.stop();
});

describe('the ids in use', () => {
  const keys = parseSecretKeys(TWO_KEYS);
  const idsOf = (text: string, after: number) =>
    createIdsInUse()(
      secretRules(
        text,
        createTokens(() => 0),
      ),
      keys,
      ROTATION_SECONDS + after,
    );

  it.each([
    ['before the rotation the first', -1, [1]],
    ['after it both, until the day is over', 60, [1, 2]],
    ['then the second', 86_400, [2]],
  ])('are %s', (_, after, ids) => {
    expect(idsOf(RULES, after)).toEqual(ids);
  });

  it('are none of rules without keyed values, and without rules', () => {
    expect(idsOf(RULES.replace('hash_value: true', 'hash_value: sha256'), 0)).toEqual([]);
    expect(createIdsInUse()(undefined, keys, 0)).toEqual([]);
  });
});
