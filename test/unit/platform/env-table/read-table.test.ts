import { boolean } from '../../../../src/platform/env-table/booleans';
import { credentials } from '../../../../src/platform/env-table/credentials';
import { notBuiltFinding, notBuiltText } from '../../../../src/platform/env-table/not-built-yet';
import { wholeNumber } from '../../../../src/platform/env-table/numbers';
import {
  type Environment,
  type Findings,
  readTable,
} from '../../../../src/platform/env-table/read-table';
import { setting } from '../../../../src/platform/env-table/setting';
import { oneOf, text } from '../../../../src/platform/env-table/texts';

const table = {
  size: setting('SIZE', wholeNumber(1, 9), { default: '5', aliases: ['OLD_SIZE'], doc: 'size' }),
  on: setting('ON', boolean, { default: 'false', aliases: ['OLD_ON'], doc: 'switch' }),
  name: setting('NAME', text, { doc: 'name' }),
  title: setting('TITLE', text, { default: 'none', emptyIsValue: true, doc: 'title' }),
  auth: setting('AUTH', credentials, { secret: true, aliases: ['OLD_AUTH'], doc: 'secret' }),
  age: setting('AGE', wholeNumber(0), { default: '1', notBuiltYet: 'warns', doc: 'age' }),
  tls: setting('TLS', boolean, { default: 'false', notBuiltYet: 'stops', doc: 'tls' }),
  engine: setting('ENGINE', oneOf('old', 'new', 'next'), {
    notBuiltYet: { stopsFor: ['new'] },
    doc: 'engine',
  }),
  wheel: setting('WHEEL', oneOf('old', 'new'), {
    default: 'old',
    notBuiltYet: { warnsFor: ['new'] },
    doc: 'wheel',
  }),
  gone: setting('GONE', wholeNumber(0), { default: '0', deprecated: true, doc: 'nothing' }),
};

function read(env: Environment) {
  const findings: Findings = { problems: [], warnings: [] };
  return { ...readTable(table, env, findings), ...findings };
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
      age: 1,
      tls: false,
      engine: undefined,
      wheel: 'old',
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
      `ENGINE="${'x'.repeat(120)}…": expected one of old, new, next`,
    ]);
    expect([values.size, values.on]).toEqual([5, false]);
  });

  it('reads a setting under its other name', () => {
    const { values, shown } = read({ OLD_SIZE: '7' });
    expect([values.size, shown('size'), shown('on')]).toEqual([7, 'OLD_SIZE="7"', 'ON']);
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
    const { problems, shown } = read({ AUTH: 'hush:', OLD_AUTH: 'other', SIZE: 'user:hush@host' });
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

describe('a setting whose feature is not built', () => {
  it('is silent when it holds its default', () => {
    const { problems, warnings } = read({ AGE: '01', TLS: 'F', ENGINE: 'old', WHEEL: 'old' });
    expect([problems, warnings]).toEqual([[], []]);
  });

  it('warns or stops when it holds another value', () => {
    const { problems, warnings } = read({ AGE: '2', TLS: 't', ENGINE: 'new', WHEEL: 'new' });
    expect(warnings).toEqual([
      'AGE="2" has no effect: not built yet in this version',
      'WHEEL="new" has no effect: not built yet in this version',
    ]);
    expect(problems).toEqual([
      'TLS="t": not built yet in this version',
      'ENGINE="new": not built yet in this version',
    ]);
    expect(read({ ENGINE: 'next' }).problems).toEqual([]);
  });

  it('is still checked', () => {
    expect(read({ AGE: 'old' }).problems).toEqual([
      'AGE="old": expected a whole number of at least 0',
    ]);
  });

  it('says so in the help', () => {
    expect([table.size, table.age, table.tls, table.engine, table.wheel].map(notBuiltText)).toEqual(
      [
        undefined,
        'not built yet',
        'not built yet (stops the start)',
        'not built yet: new (stops the start)',
        'not built yet: new',
      ],
    );
  });

  it('can be asked about one that is built', () => {
    const findings: Findings = { problems: [], warnings: [] };
    notBuiltFinding(table.size, 7, 'SIZE="7"', findings);
    expect(findings).toEqual({ problems: [], warnings: [] });
  });
});

it('warns of a deprecated setting, whatever its value', () => {
  expect(read({ GONE: '0' }).warnings).toEqual(['GONE="0" is deprecated and has no effect']);
});
