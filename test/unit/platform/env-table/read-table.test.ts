import { credentials } from '../../../../src/platform/credentials-source';
import {
  type Environment,
  type Diagnostics,
  readTable,
} from '../../../../src/platform/env-table/table';
import { boolean, oneOf, text, wholeNumber } from '../../../../src/platform/env-table/parsers';
import { optional, setting } from '../../../../src/settings/setting';

const table = {
  size: setting('SIZE', wholeNumber(1, 9), '5', { aliases: ['OLD_SIZE'], doc: 'size' }),
  on: setting('ON', boolean, 'false', { aliases: ['OLD_ON'], doc: 'switch' }),
  name: optional('NAME', text, 'unset', { doc: 'name' }),
  title: setting('TITLE', text, 'none', { emptyIsValue: true, doc: 'title' }),
  auth: optional('AUTH', credentials, 'unset', {
    secret: true,
    aliases: ['OLD_AUTH'],
    doc: 'secret',
  }),
  engine: optional('ENGINE', oneOf('old', 'new'), 'unset', { doc: 'engine' }),
  gone: setting('GONE', wholeNumber(0), '0', { isDeprecated: true, doc: 'nothing' }),
};

function read(env: Environment) {
  const diagnostics: Diagnostics = { problems: [], warnings: [] };
  return { ...readTable(table, env, diagnostics), ...diagnostics };
}

describe('reading a table', () => {
  it('gives the defaults where nothing is set', () => {
    const { values, problems, warnings } = read({});
    expect(values).toEqual({
      size: 5,
      on: false,
      name: undefined,
      title: 'none',
      auth: undefined,
      engine: undefined,
      gone: 0,
    });
    expect([problems, warnings]).toEqual([[], []]);
  });

  it('takes an empty text for not set, but where a setting may be empty', () => {
    const { values, problems, isSet } = read({ SIZE: '', NAME: '', TITLE: '' });
    expect([values.size, values.name, values.title, problems]).toEqual([5, undefined, '', []]);
    expect([isSet('size'), isSet('name'), isSet('title')]).toEqual([false, false, true]);
  });

  it('reports all problems together, each with name, value and what was expected', () => {
    const { values, problems } = read({ OLD_SIZE: 'ten', ON: 'yes\n', ENGINE: 'x'.repeat(500) });
    expect(problems).toEqual([
      'OLD_SIZE="ten": expected a whole number from 1 to 9',
      'ON="yes\\n": expected true or false (also 1, t, T, TRUE, True, 0, f, F, FALSE, False)',
      `ENGINE="${'x'.repeat(120)}…": expected one of old, new`,
    ]);
    expect([values.size, values.on]).toEqual([5, false]);
  });

  it('reads a setting under its other name', () => {
    const { values, describe: shown } = read({ OLD_SIZE: '7' });
    expect([values.size, shown('size'), shown('on')]).toEqual([7, 'OLD_SIZE="7"', 'OLD_ON']);
  });

  it('accepts both names when they say the same in other words', () => {
    const { values, problems } = read({ ON: 'true', OLD_ON: '1', SIZE: '', OLD_SIZE: '8' });
    expect([values.on, values.size, problems]).toEqual([true, 8, []]);
  });

  it('names both names when they differ', () => {
    expect(read({ SIZE: '7', OLD_SIZE: '8' }).problems).toEqual([
      'SIZE="7" and OLD_SIZE="8": two names of one setting with different values, expected one of them',
    ]);
  });

  it('reports a bad value under either name without calling it a difference', () => {
    expect(read({ SIZE: '7', OLD_SIZE: 'x' }).problems).toEqual([
      'OLD_SIZE="x": expected a whole number from 1 to 9',
    ]);
  });

  it('never shows a secret, nor a value that may hold one', () => {
    const { problems, describe: shown } = read({
      AUTH: 'hush:',
      OLD_AUTH: 'other',
      SIZE: 'user:hush@host',
    });
    expect(problems).toEqual([
      'SIZE (value not shown): expected a whole number from 1 to 9',
      'AUTH (value not shown): expected <PASSWORD> or <USER>:<PASSWORD>, without line breaks',
    ]);
    expect(shown('auth')).toBe('AUTH (value not shown)');
    expect(read({ AUTH: 'hush', OLD_AUTH: 'other' }).problems).toEqual([
      'AUTH (value not shown) and OLD_AUTH (value not shown): ' +
        'two names of one setting with different values, expected one of them',
    ]);
  });
});

it('warns of a deprecated setting, whatever its value', () => {
  expect(read({ GONE: '0' }).warnings).toEqual(['GONE="0" is deprecated and has no effect']);
});
