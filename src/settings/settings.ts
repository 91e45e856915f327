import { type Environment, type Diagnostics, readTable } from '../platform/env-table/table';
import { adminTable, toAdmin, readServers, boundsTable, healthTable, checkTable } from './servers';
import { clientFiles, TLS_FILES } from './client-files';
import {
  configurationTable,
  warnOfUnreadThere,
  secretsTable,
  timeZonesTable,
} from './configuration';
import { loggingTable, decisionLogTable } from './logging';
import { decisionsTable, leasesTable } from './decisions';
import { identityTable, toIdentity } from './identity';
import { findMisspelt, misspeltText } from './tables';
import { readStores } from './backend';
import { responseHeadersTable, toResponseHeaders } from './response-headers';
import type { Misspelt, Read } from './setting';
import { statisticsTable, toStatistics } from './statistics';
import { readTracing } from './tracing';
import { toWorkers, workersTable } from './workers';
import { toXds, xdsTable } from './xds';
import type { StoreSettings } from './kvstore';

/** All settings from their tables; mistakes are added to the diagnostics, and replaced by defaults. */
function toSettings(read: Read, misspelt: readonly Misspelt[]) {
  const configurationReading = read(configurationTable);
  const configuration = configurationReading.values;
  const xdsReading = read(xdsTable);
  const xds = toXds(xdsReading);
  const needsXdsFiles = configuration.type !== 'FILE' && xds.tls !== undefined;
  const { files, redisExpected, ...stores } = readStores(read, misspelt);
  // The reference cannot count in memory: whoever does replaces none.
  if (stores.backend !== 'memory') warnOfUnreadThere(configurationReading);
  const servers = readServers(read);
  return {
    configuration,
    xds,
    servers,
    check: read(checkTable).values,
    workers: toWorkers(read(workersTable), stores.backend),
    bounds: read(boundsTable).values,
    admin: toAdmin(read(adminTable), servers.debug.host),
    logging: read(loggingTable).values,
    health: read(healthTable).values,
    decisions: read(decisionsTable).values,
    leases: read(leasesTable).values,
    decisionLog: read(decisionLogTable).values,
    secrets: read(secretsTable).values,
    timeZones: read(timeZonesTable).values,
    responseHeaders: toResponseHeaders(read(responseHeadersTable)),
    ...stores,
    statistics: toStatistics(read(statisticsTable), read),
    tracing: readTracing(read),
    identity: toIdentity(read(identityTable), redisExpected),
    // Files without which no connection to the stores, or to the management server, can be established.
    clientFiles: { stores: files, rules: needsXdsFiles ? clientFiles(xdsReading, TLS_FILES) : [] },
  };
}

/** All settings, checked. Times have their unit in the name and may have a fraction. */
export type Settings = Readonly<ReturnType<typeof toSettings>>;

type SettingsResult =
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
  const settings = toSettings(read, misspelt);
  const { problems, warnings } = diagnostics;
  return problems.length > 0
    ? { ok: false, problems: [...new Set([...misspelt.map(misspeltText), ...problems])] }
    : { ok: true, settings, warnings };
}

/** Milliseconds for which requests are gathered into a batch: the shorter window of the two stores. */
export function batchWindowMs({ store, perSecondStore }: Settings): number {
  return Math.min(store?.pipelineWindowMs ?? 0, perSecondStore?.pipelineWindowMs ?? Infinity);
}

/** The rest of a store's own window, for batches that were gathered already. */
export function restOfWindowMs(store: StoreSettings, settings: Settings): number {
  return store.pipelineWindowMs - batchWindowMs(settings);
}
