import { marbles } from 'rxjs-marbles/jest';
import { of, type ObservableInput } from 'rxjs';
import { renewWhenGood } from '../../../streams';

/** Looks every 2 frames at these, one after the other; capitals cannot be used, `!` and `?` cannot be read. */
function renew(looks: string, faults: string[], first = 'a') {
  let at = -1;
  const look = (): ObservableInput<string> => {
    at = Math.min(at + 1, looks.length - 1);
    const seen = looks.charAt(at);
    if (seen === '!') throw new Error('cannot be read');
    if (seen === '?') throw new Error('is not there');
    return of(seen);
  };
  return renewWhenGood<string>({
    first,
    everyMs: 2,
    look,
    isSame: (one, other) => one === other,
    check: (value) => {
      if (value === value.toUpperCase()) throw new Error(`${value} is bad`);
    },
    onFault: (error) => faults.push((error as Error).message),
  });
}

describe('renewWhenGood', () => {
  it.each([
    ['says nothing of what is in use already', 'aaa', '-------', []],
    ['emits another value as soon as it is seen, once', 'abbb', '----b----', []],
    ['emits every other one', 'bcb', '--b-c-b', []],
    [
      'keeps what is in use when a new one is bad, and tells of it at the second look',
      'XX',
      '-----',
      ['X is bad'],
    ],
    ['tells once of a bad one that stays', 'XXXXX', '-----------', ['X is bad']],
    ['does not tell of one that was half written', 'Xbb', '----b--', []],
    ['does not tell of two that were half written', 'XYb', '------b', []],
    ['does not tell of a half written one that could not be read then', 'X!b', '------b', []],
    ['does not tell of what could not be read and was half written then', '!Xb', '------b', []],
    ['does not tell of what could not be read for two reasons', '!?b', '------b', []],
    ['tells of each bad one', 'XXYY', '---------', ['X is bad', 'Y is bad']],
    ['tells of a bad one again that came back', 'XXaXX', '-----------', ['X is bad', 'X is bad']],
    ['tells once of what cannot be read', '!!!', '-------', ['cannot be read']],
    ['takes what can be read again', '!!b', '------b', ['cannot be read']],
    ['says nothing when the old one is back', 'Xa', '-----', []],
  ])('%s', (_, looks, expected, faults) => {
    marbles((m) => {
      const told: string[] = [];
      const until = `^${'-'.repeat(expected.length - 1)}!`;
      m.expect(renew(looks, told), until).toBeObservable(expected);
      m.flush();
      expect(told).toEqual(faults);
    })();
  });

  it('does not check again what is in use', () => {
    marbles((m) => {
      const told: string[] = [];
      m.expect(renew('XX', told, 'X'), '^----!').toBeObservable('-----');
      m.flush();
      expect(told).toEqual([]);
    })();
  });

  it('looks once at a time', () => {
    marbles((m) => {
      const slow = m.cold<string>('-----(b|)');
      const renewed = renewWhenGood({
        first: 'a',
        everyMs: 2,
        look: () => slow,
        isSame: (one, other) => one === other,
        check: () => undefined,
        onFault: () => undefined,
      });
      m.expect(renewed, '^--------!').toBeObservable('-------b-');
      m.expect(slow).toHaveSubscriptions(['--^----!', '--------^!']);
    })();
  });

  it('starts afresh for each subscriber, and calls what is thrown an error', () => {
    marbles((m) => {
      const faults: unknown[] = [];
      const renewed = renewWhenGood({
        first: 'a',
        everyMs: 1,
        look: () => m.cold<string>('#', undefined, 'a text'),
        isSame: (one, other) => one === other,
        check: () => undefined,
        onFault: (error) => faults.push(error),
      });
      m.expect(renewed, '^---!').toBeObservable('----');
      m.flush();
      expect(faults).toEqual([new Error('a text')]);
    })();
  });
});
