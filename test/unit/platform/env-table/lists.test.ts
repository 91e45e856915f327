import fc from 'fast-check';
import { word, listOf, pairs } from '../../../../src/platform/env-table/parsers';

describe('a list', () => {
  const list = listOf(word, 'a name');

  it.each([
    ['one', ['one']],
    ['one,two', ['one', 'two']],
    [' one , two ', ['one', 'two']],
  ])('reads %j', (text, items) => {
    expect(list.parse(text)).toEqual(items);
  });

  it.each(['', ',', 'one,', ',one', 'one,,two', 'one two'])('refuses %j', (text) => {
    expect(list.parse(text)).toBeUndefined();
  });

  it('says what an item is', () => {
    expect(list.expected).toBe('a name, with commas between several');
  });
});

describe('pairs', () => {
  it.each([
    ['k1:v1,k2:v2', { k1: 'v1', k2: 'v2' }],
    [' k : v ', { k: 'v' }],
    ['authorization:Bearer a:b', { authorization: 'Bearer a:b' }],
    ['k:', { k: '' }],
    ['k:1,k:2', { k: '2' }],
  ])('reads %j', (text, value) => {
    expect(pairs(':').parse(text)).toEqual(value);
  });

  it.each(['', 'k', ':v', 'k:v,', 'k:v,w', 'k=v'])('refuses %j', (text) => {
    expect(pairs(':').parse(text)).toBeUndefined();
  });

  it('may be written with = in place of the colon', () => {
    expect(pairs('=').parse('zone=a,tier=b=c:d')).toEqual({ zone: 'a', tier: 'b=c:d' });
    expect(pairs('=').expected).toBe('<k1>=<v1>,<k2>=<v2>');
  });

  it('reads back whatever was joined', () => {
    const name = fc.stringMatching(/^[A-Za-z_][\w.-]*$/);
    fc.assert(
      fc.property(fc.dictionary(name, fc.stringMatching(/^[\w:.-]*$/), { minKeys: 1 }), (value) => {
        const text = Object.entries(value).map(([key, item]) => `${key}:${item}`);
        expect(Object.entries(pairs(':').parse(text.join(',')) ?? {})).toEqual(
          Object.entries(value),
        );
      }),
    );
  });

  it('holds a name that every object has already', () => {
    const parsed = pairs(':').parse('__proto__:x') ?? {};
    expect(Object.entries(parsed)).toEqual([['__proto__', 'x']]);
  });
});
