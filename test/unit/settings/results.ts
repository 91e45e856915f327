import { type Settings, readSettings } from '../../../src/settings/settings';

type Env = Readonly<Record<string, string | undefined>>;

/** The problems of an environment; none when it is good. */
export function problemsOf(env: Env): readonly string[] {
  const result = readSettings(env);
  return result.ok ? [] : result.problems;
}

/** The settings of a good environment. */
export function settingsOf(env: Env): Settings {
  const result = readSettings(env);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.settings;
}

/** The warnings of a good environment. */
export function warningsOf(env: Env): readonly string[] {
  const result = readSettings(env);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.warnings;
}
