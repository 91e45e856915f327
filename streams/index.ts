export { backoffDelay, type BackoffPolicy } from './backoff';
export { batchUntil, type BatchOptions } from './operators/batch-until';
export { exhaustLatest } from './operators/exhaust-latest';
export { debounceWithMaxWait, type DebounceOptions } from './operators/debounce-with-max-wait';
export { eachTrueOnce, firstTrueOrTimeout, onceTrue } from './operators/flags';
export { inOrder } from './operators/in-order';
export { reportOutages, type AttemptResult, type OutageReport } from './operators/report-outages';
export { batchedRequests, type BatchedRequests } from './pipelines/batched-requests';
export {
  discoverySession,
  type DiscoverySession,
  type AckDecision,
  type Disconnected,
} from './pipelines/discovery-session';
export { flushPeriodically, type FlushPeriodically } from './pipelines/flush-periodically';
export { keepConnected, type KeepConnected, type LostConnection } from './pipelines/keep-connected';
export { keepRefreshed, type KeepRefreshed } from './pipelines/keep-refreshed';
export { regain, type Regain } from './pipelines/regain';
export { healthStatus, type HealthStatus } from './pipelines/health-status';
export { orderlyStop, type OrderlyStop, type StopEnd } from './pipelines/orderly-stop';
export { reloadOnChange, type Loaded, type ReloadOptions } from './pipelines/reload-on-change';
export { renewWhenGood, type RenewWhenGood } from './pipelines/renew-when-good';
export {
  fromDuplex,
  type DuplexEnd,
  type DuplexEvents,
  type OpenDuplex,
  type Received,
} from './sources/from-duplex';
export { fromSignals } from './sources/from-signals';
export { fromTask } from './sources/from-task';
export { fromWatch, type OpenWatch } from './sources/from-watch';
export { turnWindow } from './sources/turn-window';
export { createMailbox } from './state/mailbox';
export { createOutages } from './state/outages';
export { createSnapshot, type Snapshot, type SnapshotOwner } from './state/snapshot';
export { createStreamGroup } from './state/stream-group';
export { createStopSignal, type StopSignal } from './state/stop-signal';
