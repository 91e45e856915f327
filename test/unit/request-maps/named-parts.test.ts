import fc from 'fast-check';
import { cookieOf, decodePercent, parameterOf } from '../../../src/request-maps/make-descriptors';

it.each([
  ['sid=a', 'a'],
  ['x=1; sid=a; sid=b', 'a'],
  ['x=1;sid="a b"', 'a b'],
  ['xsid=1; sid=a=b', 'a=b'],
  ['sid=', undefined],
  ['sid', undefined],
  ['; ;=;', undefined],
  ['', undefined],
  [undefined, undefined],
])('finds the cookie in %j', (header, value) => {
  expect(cookieOf(header, 'sid')).toBe(value);
});

it.each([
  ['user=ann', 'ann'],
  ['a=1&user=ann&user=bob', 'ann'],
  ['us%65r=ann+b%20c', 'ann b c'],
  ['user=%zz%4', '%zz%4'],
  ['user=%ff', '\ufffd'],
  ['&&user', undefined],
  ['user=&user=ann', undefined],
  [undefined, undefined],
])('finds the parameter in %j', (query, value) => {
  expect(parameterOf(query, 'user')).toBe(value);
});

it('finds every parameter that a form holds', () => {
  const wellFormed = fc
    .string({ unit: 'grapheme' })
    .filter((text) => text.trim() === text && text !== '');
  fc.assert(
    fc.property(fc.array(fc.tuple(wellFormed, wellFormed), { minLength: 1 }), (pairs) => {
      const query = new URLSearchParams(pairs).toString();
      for (const [name] of pairs)
        expect(parameterOf(query, name)).toBe(new Map(pairs.toReversed()).get(name));
    }),
  );
});

it('decodes whatever was encoded, and leaves the rest', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(decodePercent(encodeURIComponent(text))).toBe(text);
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(typeof decodePercent(text)).toBe('string');
    }),
  );
});
