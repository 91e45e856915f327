import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  createCredential,
  formatCredential,
  hashSecret,
  matchesHash,
  parseCredential,
  randomBase62,
  toBase62,
} from '../../../src/identity/credential';

import fc from 'fast-check';

const bytesOf = (seed: Uint8Array) => (size: number) =>
  Uint8Array.from({ length: size }, (_, index) => seed[index % seed.length] ?? 0);
const credentials = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((seed) => createCredential(bytesOf(seed.map((byte) => byte % 248))));
const kinds = fc.constantFrom('token', 'apiKey');

describe('a token', () => {
  it('is idt_, 16 digits of an id, 43 of a secret and 6 of a checksum', () => {
    const credential = createCredential(randomBytes);
    const token = formatCredential('token', credential);
    expect(token).toMatch(/^idt_[0-9A-Za-z]{65}$/);
    expect(token.slice(4, 20)).toBe(credential.id);
    expect(token.slice(20, 63)).toBe(credential.secret);
    expect(token.slice(63)).toBe(toBase62(BigInt(crc32(token.slice(0, 63))), 6));
  });

  it('holds all 32 bytes of its secret', () => {
    const most = createCredential((size) => new Uint8Array(size).fill(size === 32 ? 255 : 0));
    expect(most.secret).toHaveLength(43);
    let value = 0n;
    for (const digit of most.secret)
      value =
        value * 62n +
        BigInt('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.indexOf(digit));
    expect(value).toBe(2n ** 256n - 1n);
  });

  it('is read as what it was written from', () => {
    fc.assert(
      fc.property(kinds, credentials, (kind, credential) => {
        expect(parseCredential(kind, formatCredential(kind, credential))).toEqual(credential);
      }),
    );
  });

  it('is no API key, and the other way round', () => {
    const credential = createCredential(randomBytes);
    expect(parseCredential('apiKey', formatCredential('token', credential))).toBeUndefined();
    expect(parseCredential('token', formatCredential('apiKey', credential))).toBeUndefined();
  });

  it('is refused when any one character of it is another', () => {
    fc.assert(
      fc.property(
        credentials,
        fc.nat({ max: 68 }),
        fc.constantFrom('0', 'Z', 'a', 'z', '_', '-', ' ', 'ä'),
        (credential, at, character) => {
          const token = formatCredential('token', credential);
          fc.pre(token[at] !== character);
          const broken = token.slice(0, at) + character + token.slice(at + 1);
          expect(parseCredential('token', broken)).toBeUndefined();
        },
      ),
    );
  });

  it.each([
    '',
    'idt_',
    'idt_\0',
    `idt_${'a'.repeat(64)}\n`,
    `idt_${'0'.repeat(65)}`,
    'ü'.repeat(69),
  ])('is not %j', (text) => {
    expect(parseCredential('token', text)).toBeUndefined();
  });

  it('may be any text without anything being thrown', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 100 }),
      fc.string({ minLength: 65, maxLength: 65 }).map((text) => `idt_${text}`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(parseCredential('token', text)).toBeUndefined();
      }),
    );
  });
});

describe('a secret', () => {
  it('is compared by its SHA-256', () => {
    const { secret } = createCredential(randomBytes);
    const hash = createHash('sha256').update(secret).digest('hex');
    expect(hashSecret(secret)).toBe(hash);
    expect(matchesHash(secret, hash)).toBe(true);
    expect(matchesHash(`${secret}x`, hash)).toBe(false);
  });

  it.each([undefined, '', 'abc', '0'.repeat(64)])('matches no hash %j', (hash) => {
    expect(matchesHash('secret', hash)).toBe(false);
  });
});

it('draws base62 digits without a preference', () => {
  // Bytes from 248 on would favour the first digits and are drawn again.
  let calls = 0;
  const text = randomBase62(4, (size) => {
    calls += 1;
    return new Uint8Array(size).fill(calls === 1 ? 255 : 61);
  });
  expect(text).toBe('zzzz');
  expect(calls).toBe(2);
});
