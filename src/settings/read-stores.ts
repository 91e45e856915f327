import type { Findings } from '../platform/env-table/read-table';
import { type Backend, backendTable, chooseBackend } from './backend';
import { type ClientFile, clientFiles, CREDENTIALS_FILES, TLS_FILES } from './client-files';
import type { Misspelt } from './misspelt';
import { checkMemstore, memstoreTable, toMemstore } from './memstore';
import { perSecondStoreTable, perSecondSwitchTable } from './per-second-store';
import type { Read } from './read';
import type { Settings } from './settings';
import { sharedStoreTable } from './store-shared';
import { kvstoreTable } from './tables';
import { checkCluster, toStore } from './to-store';

type StoreSection = Pick<
  Settings,
  'backend' | 'store' | 'perSecondStore' | 'storeFailure' | 'memstore' | 'memory'
>;

function readAll(read: Read) {
  return {
    backend: read(backendTable),
    store: read(kvstoreTable),
    shared: read(sharedStoreTable),
    perSecondSwitch: read(perSecondSwitchTable),
    perSecond: read(perSecondStoreTable),
    memstore: read(memstoreTable),
  };
}

type StoreReadings = ReturnType<typeof readAll>;

/** The files of the stores that are in use. */
function filesOf(
  { store, shared, perSecond, memstore }: StoreReadings,
  used: Pick<StoreSection, 'store' | 'perSecondStore' | 'memstore'>,
): readonly ClientFile[] {
  const hasTls = used.store?.tls !== undefined || used.perSecondStore?.tls !== undefined;
  return [
    ...(hasTls ? clientFiles(shared, TLS_FILES) : []),
    ...(used.store === undefined ? [] : clientFiles(store, CREDENTIALS_FILES, 'credentials')),
    ...(used.perSecondStore === undefined
      ? []
      : clientFiles(perSecond, CREDENTIALS_FILES, 'credentials')),
    ...(used.memstore?.tls === undefined ? [] : clientFiles(memstore, TLS_FILES)),
  ];
}

/** Whether limits per second have a store of their own; a split without both addresses is a problem. */
function isSplit(kind: Backend, readings: StoreReadings, findings: Findings): boolean {
  const { backend, perSecondSwitch, store, perSecond } = readings;
  const isAnotherBackend = kind !== 'kvstore' && backend.isSet('type');
  if (!perSecondSwitch.values.enabled || isAnotherBackend || kind === 'memstore') return false;
  for (const reading of [store, perSecond]) {
    if (reading.isSet('url')) continue;
    const on = perSecondSwitch.shown('enabled');
    findings.problems.push(`${on}: expected ${reading.shown('url')} to be set`);
  }
  checkCluster(perSecond, findings);
  return true;
}

/** Settings of a store without its address: counting in memory would be a surprise, so the start ends. */
function checkForgottenAddress(
  { store, shared, perSecondSwitch, perSecond, memstore }: StoreReadings,
  misspelt: readonly Misspelt[],
  findings: Findings,
): void {
  const isAddress = ({ meant }: Misspelt) => /^(?:KVSTORE|REDIS)_(?:PERSECOND_)?URL$/.test(meant);
  if (perSecondSwitch.values.enabled) return;
  const given = [
    ...misspelt.filter(isAddress).map(({ name }) => name),
    ...[store, shared, perSecond].flatMap((reading) => reading.given),
  ];
  if (given[0] !== undefined) {
    const others = given.length > 1 ? ` (and ${String(given.length - 1)} more)` : '';
    findings.problems.push(
      `${given[0]}${others}: expected ${store.shown('url')} to be set too, or BACKEND_TYPE=memory to count in this process`,
    );
  }
  if (memstore.given[0] !== undefined) {
    findings.problems.push(
      `${memstore.given[0]}: expected ${memstore.shown('nodes')} or ${memstore.shown('srv')} to be set too`,
    );
  }
}

/** What is missing for Redis, in the operator's names; undefined: nothing. */
function missingForRedis(kind: Backend, { backend, store }: StoreReadings): string | undefined {
  if (kind === 'kvstore') return undefined;
  const missing = [
    ...(store.isSet('url') ? [] : [`${store.shown('url')} to be set`]),
    ...(backend.isSet('type') ? [`${backend.shown('type')} to be kvstore`] : []),
  ];
  return missing.join(' and ');
}

/** Everything about where counters live. */
export function readStores(
  read: Read,
  misspelt: readonly Misspelt[],
  findings: Findings,
): StoreSection & {
  readonly files: readonly ClientFile[];
  readonly redisExpected: string | undefined;
} {
  const readings = readAll(read);
  const { backend, store, shared, perSecond, memstore } = readings;
  checkMemstore(memstore, findings);
  const kind = chooseBackend(readings, findings);
  if (kind === 'memory' && !backend.isSet('type'))
    checkForgottenAddress(readings, misspelt, findings);
  if (kind === 'kvstore') checkCluster(store, findings);
  const main = toStore(store, shared, findings);
  const second = toStore(perSecond, shared, findings);
  const { failureMode, failureReplicas } = shared.values;
  const used = {
    store: kind === 'kvstore' ? main : undefined,
    perSecondStore: isSplit(kind, readings, findings) ? second : undefined,
    memstore: kind === 'memstore' ? toMemstore(memstore, findings) : undefined,
  };
  return {
    backend: kind,
    ...used,
    files: filesOf(readings, used),
    redisExpected: missingForRedis(kind, readings),
    storeFailure: { mode: failureMode, replicas: failureReplicas },
    memory: { maxKeys: backend.values.memoryMaxKeys, maxBytes: backend.values.memoryMaxBytes },
  };
}
