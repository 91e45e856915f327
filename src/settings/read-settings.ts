import { type Environment, type Diagnostics, readTable } from '../platform/env-table/read-table';
import { findMisspelt, misspeltText } from './misspelt';
import type { Read } from './setting';
import { toSettings, type Settings } from './settings';

export type SettingsResult =
  | { readonly ok: true; readonly settings: Settings; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * The settings in an environment, or every problem of it at once: one line each that names the setting,
 * its value (never a secret) and what was expected; names that may be misspelt stand first, since a problem may be theirs.
 * Warnings are for the log of the start.
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
