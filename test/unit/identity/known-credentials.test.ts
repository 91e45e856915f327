import { createKnownCredentials, toShown } from '../../../src/identity/service/userinfo';

const SHOWN = toShown('a', 't', ['k']);

it('knows what was good, with the same API key and from the same address', () => {
  const known = createKnownCredentials();
  expect(known.has(SHOWN)).toBe(false);
  known.add(SHOWN);
  expect(known.has(toShown('a', 't', ['k']))).toBe(true);
  for (const other of [
    toShown('b', 't', ['k']),
    toShown('a', 'u', ['k']),
    toShown('a', 't', ['l']),
    toShown('a', 't', ['k', 'k']),
    toShown('a', 't', []),
  ])
    expect(known.has(other)).toBe(false);
  known.drop(SHOWN);
  expect(known.has(SHOWN)).toBe(false);
});

it('keeps so many and no more, those that were good last', () => {
  const known = createKnownCredentials(2);
  const [first, second, third] = ['1', '2', '3'].map((token) => toShown('a', token, []));
  if (first === undefined || second === undefined || third === undefined) throw new Error();
  for (const shown of [first, second, first, third]) known.add(shown);
  expect([first, second, third].map(known.has)).toEqual([true, false, true]);
});

it('gives one token one place, whatever API keys come with it', () => {
  const known = createKnownCredentials(2);
  known.add(toShown('a', 'other', []));
  for (let at = 0; at < 10; at++) known.add(toShown('a', 't', [String(at)]));
  expect(known.has(toShown('a', 'other', []))).toBe(true);
});

it('keeps nothing of a credential but its hash', () => {
  const text = JSON.stringify(toShown('203.0.113.9', 'idt_secret', ['idk_secret']));
  expect(text).not.toMatch(/203|secret/);
  expect(text.length).toBeLessThan(130);
});
