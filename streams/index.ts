export { backoffDelay, type BackoffPolicy } from './backoff';
export { batchUntil, type BatchOptions } from './operators/batch-until';
export { keepLastGood, type Kept, type Loaded } from './operators/keep-last-good';
export { retryWithBackoff, type RetryOptions } from './operators/retry-with-backoff';
export { healthStatus, type HealthStatus } from './pipelines/health-status';
export { immediate$ } from './sources/immediate';
export { createSnapshot, type Snapshot, type SnapshotOwner } from './state/snapshot';
