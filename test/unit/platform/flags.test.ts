import { readArguments } from '../../../src/platform/flags';

const FLAGS = { domain: { value: 'DOMAIN', about: 'domain of the limits' } };

const read = (...args: readonly string[]) =>
  readArguments(args, FLAGS).map(({ name, value, written }) => [name ?? written, value]);

describe('the arguments of a command line', () => {
  it.each(['-domain', '--domain'])('are flags with the next word as their value: %s', (flag) => {
    expect(read(flag, '-a', 'b')).toEqual([
      ['domain', '-a'],
      ['b', undefined],
    ]);
  });

  it('are flags with a value after an equals sign, which may hold more of them', () => {
    expect(read('-domain=a=b', '--json=', '-x=1')).toEqual([
      ['domain', 'a=b'],
      ['json', ''],
      ['x', '1'],
    ]);
  });

  it('are flags without a value', () => {
    expect(read('-json', 'a', '-domain')).toEqual([
      ['json', undefined],
      ['a', undefined],
      ['domain', undefined],
    ]);
  });

  it.each(['-', '--', '---x', '-=x', '--=x', '', 'file'])('are words: %j', (word) => {
    expect(readArguments([word], FLAGS)[0]).toEqual({ written: word });
  });
});
