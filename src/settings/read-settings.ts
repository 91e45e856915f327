import { type Environment, type Diagnostics, readTable } from '../platform/env-table/read-table';
import { adminTable, toAdmin } from './admin';
import { boundsTable } from './bounds';
import { clientFiles, TLS_FILES } from './client-files';
import { configurationTable } from './configuration';
import { decisionLogTable } from './decision-log';
import { decisionsTable } from './decisions';
import { healthTable } from './health';
import { identityTable, toIdentity } from './identity';
import { loggingTable } from './logging';
import { findMisspelt, misspeltText } from './misspelt';
import { readStores } from './read-stores';
import { responseHeadersTable, toResponseHeaders } from './response-headers';
import { secretsTable } from './secrets';
import { serversTable, toServers } from './servers';
import type { Read } from './setting';
import type { Settings } from './settings';
import { statisticsTable, toStatistics } from './statistics';
import { readTracing } from './tracing';
import { toWorkers, workersTable } from './workers';
import { toXds, xdsTable } from './xds';

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
  const configuration = read(configurationTable).values;
  const xdsReading = read(xdsTable);
  const xds = toXds(xdsReading, diagnostics);
  const needsXdsFiles = configuration.type !== 'FILE' && xds.tls !== undefined;
  const { files, redisExpected, ...stores } = readStores(read, misspelt, diagnostics);
  const servers = toServers(read(serversTable), diagnostics);
  const settings: Settings = {
    configuration,
    xds,
    servers,
    workers: toWorkers(read(workersTable), stores.backend, diagnostics),
    bounds: read(boundsTable).values,
    admin: toAdmin(read(adminTable), servers.debug.host, diagnostics),
    logging: read(loggingTable).values,
    health: read(healthTable).values,
    decisions: read(decisionsTable).values,
    decisionLog: read(decisionLogTable).values,
    secrets: read(secretsTable).values,
    responseHeaders: toResponseHeaders(read(responseHeadersTable), diagnostics),
    ...stores,
    statistics: toStatistics(read(statisticsTable), env, diagnostics),
    tracing: readTracing(read, diagnostics),
    identity: toIdentity(read(identityTable), redisExpected, diagnostics),
    clientFiles: { stores: files, rules: needsXdsFiles ? clientFiles(xdsReading, TLS_FILES) : [] },
  };
  const { problems, warnings } = diagnostics;
  return problems.length > 0
    ? { ok: false, problems: [...new Set([...misspelt.map(misspeltText), ...problems])] }
    : { ok: true, settings, warnings };
}
