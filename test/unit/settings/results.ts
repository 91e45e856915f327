import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Settings, readSettings } from '../../../src/settings/settings';
import { readTable } from '../../support/text-table';

export type Env = Readonly<Record<string, string>>;

/** The settings of a good environment. */
export function settingsOf(env: Env): Settings {
  const result = readSettings(env);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.settings;
}

/** A case of a table: what is set, beside what the table sets above it, and what is said of it. */
interface EnvCase {
  readonly given: string;
  readonly base: Env;
  readonly env: Env;
  readonly lines: readonly string[];
}

/** The cases of a table in this folder, each of which is `NAME="value" NAME="value"`, or with ` -> ` its only line. */
export function readEnvTable(file: string): readonly EnvCase[] {
  return readTable(readFileSync(join(__dirname, file), 'utf8')).map((row) => {
    const [given = '', ...said] = row.title.split(' -> ');
    const pairs = [...given.matchAll(/(\w+)=("(?:[^"\\]|\\.)*")/g)];
    const env = pairs.map(([, name = '', text = '']) => [name, JSON.parse(text) as string]);
    return {
      given,
      base: row.options as Env,
      env: Object.fromEntries(env) as Env,
      lines: [...said, ...row.expected],
    };
  });
}
