import { credentials } from '../../../../src/platform/credentials-source';
import {
  boolean,
  headerName,
  oneOf,
  oneOfInAnyCase,
  synonyms,
  path,
  text,
  trueOrFalse,
  urlPath,
  word,
} from '../../../../src/platform/env-table/parsers';

describe('a boolean', () => {
  it('takes the twelve spellings of Go and no other', () => {
    const yes = ['1', 't', 'T', 'TRUE', 'true', 'True'];
    const no = ['0', 'f', 'F', 'FALSE', 'false', 'False'];
    expect(yes.map((spelling) => boolean.parse(spelling))).toEqual(yes.map(() => true));
    expect(no.map((spelling) => boolean.parse(spelling))).toEqual(no.map(() => false));
  });

  it.each(['', 'yes', 'no', 'on', 'off', 'tRUE', 'true ', '2', '-1'])('refuses %j', (spelling) => {
    expect(boolean.parse(spelling)).toBeUndefined();
  });

  it('is true or false only where the document says so', () => {
    expect(['true', 'false', '1', 'True'].map((word) => trueOrFalse.parse(word))).toEqual([
      true,
      false,
      undefined,
      undefined,
    ]);
  });
});

describe('credentials', () => {
  it.each([
    ['pass', undefined, 'pass'],
    ['user:pass', 'user', 'pass'],
    ['user:pa:ss:', 'user', 'pa:ss:'],
    [':pass', undefined, 'pass'],
    ['p@ss w0rd', undefined, 'p@ss w0rd'],
  ])('reads %s', (given, username, password) => {
    expect(credentials.parse(given)).toEqual({ username, password });
  });

  it.each(['', ':', 'user:', 'pass\n', 'a\rb', 'a\0b'])('refuses %j', (given) => {
    expect(credentials.parse(given)).toBeUndefined();
  });
});

describe('a choice', () => {
  it('is taken exactly as it is written', () => {
    const parser = oneOf('http', 'grpc');
    expect(['http', 'grpc', 'HTTP', ''].map((choice) => parser.parse(choice))).toEqual([
      'http',
      'grpc',
      undefined,
      undefined,
    ]);
    expect(parser.expected).toBe('one of http, grpc');
  });

  it('is taken in any letter case where that is allowed', () => {
    const parser = synonyms({ warning: 'warning', warn: 'warning' });
    expect(['WARN', 'Warning', 'constructor', 'w'].map((choice) => parser.parse(choice))).toEqual([
      'warning',
      'warning',
      undefined,
      undefined,
    ]);
    expect(parser.expected).toBe('one of warning, warn');
    expect(oneOfInAnyCase('tcp', 'udp').parse('UDP')).toBe('udp');
  });
});

describe('a string', () => {
  it.each([
    ['text', text, ['', 'any thing\n'], []],
    ['path', path, ['/a b/c', 'relative'], ['', 'a\nb', 'a\0b']],
    ['word', word, ['a:b/c'], ['', 'a b', 'a\t']],
    ['URL path', urlPath, ['/', '/metrics'], ['', 'metrics', '/a?b', '/a b', '/a#b']],
    ['header name', headerName, ['RateLimit-Limit', 'x'], ['', 'a b', 'a:b', 'é', '(x)']],
  ])('that is a %s is taken or refused', (_, parser, good, bad) => {
    expect(good.map((given) => parser.parse(given))).toEqual(good);
    expect(bad.map((given) => parser.parse(given))).toEqual(bad.map(() => undefined));
  });
});
