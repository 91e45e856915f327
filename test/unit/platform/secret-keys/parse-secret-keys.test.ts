import { inspect } from 'node:util';
import { keyAt, parseSecretKeys } from '../../../../src/platform/secret-keys';

const KEY = Buffer.alloc(32, 1).toString('base64');
const OTHER = Buffer.alloc(48, 2).toString('base64');

describe('parseSecretKeys', () => {
  it('reads keys, the one used first in front, and passes blank lines and remarks', () => {
    const text = `# of 2026\n2 ${OTHER} from 2026-12-01T00:00:00+01:00\r\n\n  1\t${KEY}  \n`;
    const keys = parseSecretKeys(text);
    expect(keys.map(({ id, fromSeconds }) => [id, fromSeconds])).toEqual([
      [1, -Infinity],
      [2, Date.UTC(2026, 10, 30, 23) / 1_000],
    ]);
    expect(keys[1]?.key.export()).toEqual(Buffer.alloc(48, 2));
  });

  it('keeps keys out of everything that is printed', () => {
    const [key] = parseSecretKeys(`1 ${KEY}`);
    expect(JSON.stringify(key) + inspect(key, { depth: 5, showHidden: true })).not.toContain(KEY);
  });

  it.each([
    ['nothing', '', 'no key: expected <id>'],
    ['remarks alone', '# 1\n\n', 'no key'],
    ['an id of 0', `0 ${KEY}`, 'line 1: expected an id from 1 to 999'],
    ['an id of 1000', `1000 ${KEY}`, 'line 1: expected an id from 1 to 999'],
    ['an id that is a word', `one ${KEY}`, 'line 1: expected an id from 1 to 999'],
    ['no key', '1', 'the key 1 has 0 bytes: expected at least 32'],
    ['a short key', `1 ${Buffer.alloc(31).toString('base64')}`, 'the key 1 has 31 bytes'],
    ['no base64', `1 ${KEY.slice(0, -1)}!`, 'the key 1 is not base64'],
    ['base64 that is cut', `1 ${KEY.slice(0, -1)}`, 'the key 1 is not base64'],
    ['another word', `1 ${KEY} since 2026-12-01T00:00:00Z`, 'something else follows the key 1'],
    ['a word too many', `1 ${KEY} from 2026-12-01T00:00:00Z x`, 'something else follows the key 1'],
    ['no time', `1 ${KEY} from`, 'the key 1 is used from "": expected an RFC 3339 time'],
    ['a date alone', `1 ${KEY} from 2026-12-01`, 'expected an RFC 3339 time'],
    ['a day that is none', `1 ${KEY} from 2026-13-01T00:00:00Z`, 'expected an RFC 3339 time'],
    [
      'an id that stands twice',
      `1 ${KEY}\n1 ${OTHER} from 2026-12-01T00:00:00Z`,
      'line 2: the id 1',
    ],
    [
      'two keys from ever',
      `1 ${KEY}\n2 ${OTHER}`,
      'line 2: the keys 1 and 2 are used from the same',
    ],
    ['two mistakes', `x ${KEY}\n1 ${KEY}\n2 x`, 'line 1: expected an id from 1 to 999'],
  ])('refuses %s and shows no key', (_, text, expected) => {
    let message = '';
    try {
      parseSecretKeys(text);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain(expected);
    expect(message).not.toContain(KEY.slice(0, 20));
  });

  it('names every line that is a mistake', () => {
    expect(() => parseSecretKeys(`x ${KEY}\n1 ${KEY}\n2 !`)).toThrow(/^line 1: .*; line 3: /);
  });
});

describe('keyAt', () => {
  const keys = parseSecretKeys(
    `1 ${KEY} from 2026-01-01T00:00:00Z\n2 ${OTHER} from 2026-12-01T00:00:00Z`,
  );
  const at = (time: string) => keyAt(keys, Date.parse(time) / 1_000)?.id;

  it.each([
    ['before all of them the first', '2020-01-01T00:00:00Z', 1],
    ['until the second begins the first', '2026-11-30T23:59:59Z', 1],
    ['from its own second the newest', '2026-12-01T00:00:00Z', 2],
    ['later the newest', '2030-01-01T00:00:00Z', 2],
  ])('is %s', (_, time, id) => {
    expect(at(time)).toBe(id);
  });

  it('is nothing without keys', () => {
    expect(keyAt([], 0)).toBeUndefined();
  });
});
