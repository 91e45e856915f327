import { createHash, createHmac, createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { TokenMaker, createKeyedHash, parseSecretKeys } from '../../../../src/platform/secret-keys';
import { RecentTexts } from '../../../../src/platform/recent-texts';

const bytes = Buffer.alloc(32, 7);
const ROTATED = `1 ${bytes.toString('base64')}\n2 ${Buffer.alloc(32, 8).toString('base64')} from 2026-12-01T00:00:00Z`;
const FROM = Date.UTC(2026, 11, 1) / 1_000;
const unicode = () => fc.string({ unit: 'grapheme', maxLength: 40 });

describe('createKeyedHash', () => {
  it('makes the first 128 bits of HMAC-SHA-256, whatever the lengths of key and text', () => {
    const text = fc.oneof(unicode(), fc.string({ minLength: 1_300, maxLength: 5_000 }));
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 100 }), text, (key, text) => {
        const digest = createHmac('sha256', key).update(text).digest('hex');
        expect(createKeyedHash(createSecretKey(key))(text)).toBe(digest.slice(0, 32));
      }),
    );
  });
});

describe('TokenMaker', () => {
  const maker = new TokenMaker(() => FROM, parseSecretKeys(ROTATED));
  const secret = { key: 'api_key', value: 'pk_live_1' };
  const hmac = (key: Buffer) =>
    createHmac('sha256', key).update('api_key\0pk_live_1').digest('hex').slice(0, 32);

  it('uses the key of the second it is asked for, by default now', () => {
    expect(maker.tokenOf(secret, 'keyed', FROM - 1)).toBe(`h1-${hmac(bytes)}`);
    expect(maker.tokenOf(secret, 'keyed', FROM)).toBe(`h2-${hmac(Buffer.alloc(32, 8))}`);
    expect(maker.tokenOf(secret, 'keyed')).toBe(maker.tokenOf(secret, 'keyed', FROM));
  });

  it('hashes without a key where it is asked to, and where there is none', () => {
    const digest = createHash('sha256').update('api_key\0pk_live_1').digest('hex');
    expect(maker.tokenOf(secret, 'sha256')).toBe(`s-${digest.slice(0, 32)}`);
    expect(new TokenMaker(() => 0).tokenOf(secret, 'keyed')).toBe(
      maker.tokenUnder(secret, 'sha256'),
    );
  });

  it('makes no token under a key that there is not', () => {
    expect(maker.tokenUnder(secret, 3)).toBeUndefined();
  });

  it('makes values that stand for a token, and for no other', () => {
    const token = maker.tokenOf(secret, 'keyed', 0);
    const given = { ...secret, value: maker.standIn(token) };
    expect(maker.tokenOf(given, 'keyed', FROM)).toBe(token);
    expect(maker.tokenUnder(given, 1)).toBe(token);
    expect([maker.tokenUnder(given, 2), maker.tokenUnder(given, 'sha256')]).toEqual([
      undefined,
      undefined,
    ]);
    expect(maker.tokenOf({ ...secret, value: token }, 'keyed', 0)).not.toBe(token);
  });

  it('forgets the tokens of a key that was replaced under the same id', () => {
    const replaced = new TokenMaker(() => 0, parseSecretKeys(ROTATED));
    const before = replaced.tokenOf(secret, 'keyed', 0);
    replaced.use(parseSecretKeys(`1 ${Buffer.alloc(32, 9).toString('base64')}`));
    expect(replaced.tokenOf(secret, 'keyed', 0)).not.toBe(before);
  });

  it('gives equal tokens only to equal values of equal keys', () => {
    const named = fc.record({ key: fc.constantFrom('a', 'ab', 'api_key'), value: unicode() });
    const long = named.map(({ key, value }) => ({ key, value: value + 'x'.repeat(600) }));
    const some = fc.oneof(named, long);
    fc.assert(
      fc.property(some, some, (a, b) => {
        const isSame = a.key === b.key && a.value === b.value;
        expect(maker.tokenOf(a, 'keyed') === maker.tokenOf(b, 'keyed')).toBe(isSame);
        expect(maker.tokenOf({ ...a }, 'keyed')).toBe(maker.tokenOf(a, 'keyed'));
        expect(maker.tokenOf(a, 'keyed')).toMatch(/^h2-[0-9a-f]{32}$/);
      }),
    );
  });
});

describe('RecentTexts', () => {
  it('never keeps more than its capacity, and keeps what is asked for', () => {
    const recent = new RecentTexts(8);
    recent.set('kept', 'yes');
    for (let i = 0; i < 100; i++) {
      recent.set(String(i), 'x');
      expect(recent.get('kept')).toBe('yes');
      expect(recent.size).toBeLessThanOrEqual(8);
    }
    expect(recent.get('0')).toBeUndefined();
    recent.clear();
    expect([recent.get('kept'), recent.size]).toEqual([undefined, 0]);
  });
});
