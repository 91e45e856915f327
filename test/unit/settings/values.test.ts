import { parse } from 'yaml';
import { readSettings } from '../../../src/settings/settings';
import { SUBJECTS } from '../../../src/settings/tables';
import { type Env, readEnvTable } from './results';

type Values = Readonly<Record<string, unknown>>;

const CASES = readEnvTable('values.txt').map(({ lines, ...row }) => {
  const said = lines.filter((line) => line !== 'nothing');
  const changes = said.filter((line) => !isNote(line)).join(', ');
  return { ...row, notes: said.filter(isNote), changes: parse(`{${changes}}`) as Values };
});

function isNote(line: string): boolean {
  return line === 'no warning' || line.startsWith('warning: ');
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Each value by its path, `store.address.host`. */
function leavesOf(value: unknown, path: string): readonly (readonly [string, unknown])[] {
  if (!isMap(value)) return value === undefined || value === null ? [] : [[path, value]];
  const below = path === '' ? '' : `${path}.`;
  return Object.entries(value).flatMap(([name, one]) => leavesOf(one, below + name));
}

/** Settings and warnings, without functions. */
function read(env: Env) {
  const found = readSettings(env);
  if (!found.ok) throw new Error(found.problems.join('\n'));
  const settings = JSON.parse(JSON.stringify(found.settings)) as Values;
  return { leaves: Object.fromEntries(leavesOf(settings, '')), warnings: found.warnings };
}

/** The values after each change has taken the place of all that was below its path. */
function changed(base: Values, changes: Values): Values {
  const paths = Object.keys(changes);
  const isKept = ([name]: readonly [string, unknown]) =>
    !paths.some((path) => name === path || name.startsWith(`${path}.`));
  const made = Object.entries(changes).flatMap(([path, value]) => leavesOf(value, path));
  return Object.fromEntries([...Object.entries(base).filter(isKept), ...made]);
}

it.each(CASES)('$given', ({ given, base, env, notes, changes }) => {
  const before = given === 'no setting' ? { leaves: {}, warnings: [] } : read(base);
  const { leaves, warnings } = read({ ...base, ...env });
  expect(leaves).toEqual(changed(before.leaves, changes));
  const none = warnings.length === 0 && before.warnings.length > 0;
  const more = warnings.filter((text) => !before.warnings.includes(text));
  expect([...(none ? ['no warning'] : []), ...more.map((text) => `warning: ${text}`)]).toEqual(
    notes,
  );
});

it('has every setting', () => {
  const said = new Set(CASES.flatMap(({ base, env }) => Object.keys({ ...base, ...env })));
  const all = SUBJECTS.flatMap(({ settings }) =>
    settings.map(({ name, aliases }) =>
      [name, ...aliases].map((one) => one.replace('<NAME>', 'HITS')),
    ),
  );
  expect(all.filter((names) => !names.some((name) => said.has(name)))).toEqual([]);
});
