import type { Setting } from '../platform/env-table/setting';

/** What both the help and the page say before the tables. */
export const HOW_TO_WRITE = [
  'Settings are environment variables. A name in brackets is the name that existing deployments use: ' +
    'it means the same setting. Both names set to different values stop the start.',
  'Booleans: true or false, also 1, t, T, TRUE, True, 0, f, F, FALSE, False. Durations: 150us, 10s, ' +
    '1h30m, 0 (ns, us, ms, s, m, h). Maps: k1:v1,k2:v2. Lists: items with commas between them. ' +
    'Whole numbers: also 0x10, 0o17, 0b1, 1_000, and 010 is 8, as Go reads them.',
  'A variable that is set to an empty text counts as not set, so its default applies; only settings ' +
    'that say that they may be empty take it as it is. (The Go service does not start with an empty ' +
    'boolean, number or duration, so no deployment relies on one.)',
  'So does a link to a Kubernetes Service: one that is called grpc sets GRPC_PORT=tcp://10.0.0.1:8081 in ' +
    'every pod of its namespace. A warning at the start names it.',
  'A value that cannot be used stops the start with exit code 1. All mistakes are reported together, ' +
    'one line each, with the name, the value and what was expected. A secret value is never shown.',
] as const;

/** The default of a setting as the help shows it. */
export function defaultText(entry: Setting<unknown>): string {
  if (entry.default === undefined) return entry.whenUnset ?? 'unset';
  return entry.default === '' ? 'empty' : entry.default;
}

/** The line of doc with what an operator has to know besides. */
export function docText(entry: Setting<unknown>): string {
  if (entry.deprecated === true) return `deprecated: ${entry.doc}`;
  return entry.secret === true ? `${entry.doc}; secret` : entry.doc;
}
