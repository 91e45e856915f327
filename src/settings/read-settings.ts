import { type Environment, type Diagnostics, readTable } from '../platform/env-table/read-table';
import { findMisspelt, misspeltText } from './misspelt';
import type { Read } from './setting';
import { toSettings, type Settings } from './settings';

export type SettingsResult =
  | { readonly ok: true; readonly settings: Settings; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * The settings of an environment, or all of its problems at once: one line each that names the setting, its value (never a secret)
 * and what was expected; names that may be misspelt come first, since they may cause other problems. Warnings are for the log of
 * the start.
 */
export function readSettings(env: Environment): SettingsResult {
  const diagnostics: Diagnostics = { problems: [], warnings: [] };
  const misspelt = findMisspelt(env);
  diagnostics.warnings.push(...misspelt.map(misspeltText));
  const read: Read = (table) => readTable(table, env, diagnostics);
  const settings = toSettings(read, env, misspelt);
  const { problems, warnings } = diagnostics;
  return problems.length > 0
    ? { ok: false, problems: [...new Set([...misspelt.map(misspeltText), ...problems])] }
    : { ok: true, settings, warnings };
}
