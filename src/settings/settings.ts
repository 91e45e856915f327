import type { Environment } from '../platform/env-table/read-table';
import { adminTable, toAdmin } from './admin';
import { boundsTable } from './bounds';
import { checkTable } from './check';
import { clientFiles, TLS_FILES } from './client-files';
import { configurationTable, warnOfUnreadThere } from './configuration';
import { decisionLogTable } from './decision-log';
import { decisionsTable } from './decisions';
import { healthTable } from './health';
import { identityTable, toIdentity } from './identity';
import { leasesTable } from './leases';
import { loggingTable } from './logging';
import type { Misspelt } from './misspelt';
import { readStores } from './read-stores';
import { responseHeadersTable, toResponseHeaders } from './response-headers';
import { secretsTable } from './secrets';
import { readServers } from './servers';
import type { Read } from './setting';
import { statisticsTable, toStatistics } from './statistics';
import { timeZonesTable } from './time-zones';
import { readTracing } from './tracing';
import { toWorkers, workersTable } from './workers';
import { toXds, xdsTable } from './xds';

/** All settings from their tables; mistakes are added to the diagnostics, and replaced by defaults. */
export function toSettings(read: Read, env: Environment, misspelt: readonly Misspelt[]) {
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
    statistics: toStatistics(read(statisticsTable), env),
    tracing: readTracing(read),
    identity: toIdentity(read(identityTable), redisExpected),
    // Files without which no connection to the stores, or to the management server, can be established.
    clientFiles: { stores: files, rules: needsXdsFiles ? clientFiles(xdsReading, TLS_FILES) : [] },
  };
}

/** All settings, checked. Times have their unit in the name and may have a fraction. */
export type Settings = Readonly<ReturnType<typeof toSettings>>;
