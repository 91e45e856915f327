export {
  backoffDelay,
  type BackoffPolicy,
  keepConnected,
  type KeepConnected,
  type LostConnection,
  keepRefreshed,
  type KeepRefreshed,
  regain,
  type Regain,
} from './backoff';
export {
  batchUntil,
  type BatchOptions,
  batchedRequests,
  type BatchedRequests,
} from './pipelines/batched-requests';
export { exhaustLatest, inOrder } from './operators/one-at-a-time';
export {
  debounceWithMaxWait,
  type DebounceOptions,
  reloadOnChange,
  type Loaded,
  type ReloadOptions,
  renewWhenGood,
  type RenewWhenGood,
} from './pipelines/reload-on-change';
export {
  eachTrueOnce,
  firstTrueOrTimeout,
  onceTrue,
  healthStatus,
  type HealthStatus,
} from './operators/flags';
export {
  reportOutages,
  type AttemptResult,
  type OutageReport,
  createOutages,
  type OpenOutage,
} from './state/outages';
export {
  discoverySession,
  type DiscoverySession,
  type AckDecision,
  type Disconnected,
} from './pipelines/discovery-session';
export { flushPeriodically, type FlushPeriodically } from './pipelines/flush-periodically';
export { orderlyStop, type OrderlyStop, type StopEnd } from './stop';
export {
  fromDuplex,
  type DuplexEnd,
  type DuplexEvents,
  type OpenDuplex,
  type Received,
  fromSignals,
  fromTask,
  fromWatch,
  type OpenWatch,
  turnWindow,
} from './sources';
export { createMailbox } from './state/mailbox';
export { createSnapshot, type Snapshot, type SnapshotOwner } from './state/snapshot';
export { createStreamGroup } from './state/stream-group';
export { createStopSignal, type StopSignal } from './stop';
