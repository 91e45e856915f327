import type { PolicyOptions } from '../decisions/batch';
import type { DecisionOptions } from '../decisions/decide-batch';
import type { BoundSettings } from '../settings/bounds';
import type { ResponseHeaderSettings } from '../settings/response-headers';
import type { GrpcServerSettings } from '../settings/servers';
import type { Settings } from '../settings/settings';
import type { StoreSettings } from '../settings/store';
import type { GrpcTransportOptions } from '../transport/grpc/options';
import type { Certificates } from './tls/create-certificates';

/** The settings of decisions, in the words of the core. */
export function toDecisionOptions(settings: Settings): DecisionOptions {
  const { decisions, responseHeaders, storeFailure, backend } = settings;
  const { enabled, limit, remaining, reset } = responseHeaders;
  return {
    keyPrefix: decisions.cacheKeyPrefix,
    ttlJitterSeconds: decisions.expirationJitterMaxSeconds,
    holdBack: decisions.stopIncrementWhenOverLimit,
    nearLimitRatio: decisions.nearLimitRatio,
    quotaMode: decisions.quotaMode,
    shadowMode: decisions.shadowMode,
    headers: enabled ? { limit, remaining, reset } : undefined,
    policies: toPolicyOptions(responseHeaders),
    dynamicMetadata: decisions.responseDynamicMetadata,
    onStoreError: storeFailure.mode,
    failureReplicas: storeFailure.replicas,
    readFirst: backend === 'memstore',
  };
}

/** Undefined when all of it is off: a decision then costs one comparison more. */
function toPolicyOptions(headers: ResponseHeaderSettings): PolicyOptions | undefined {
  const { policies, retryAfter, near = '', jitterPercent, body } = headers;
  const isOff =
    policies === 'off' && !retryAfter && near === '' && jitterPercent === 0 && body === 'off';
  return isOff
    ? undefined
    : { policies, retryAfter, nearHeader: near, jitterPercent, problemBody: body === 'problem' };
}

/** Milliseconds for which requests gather into a batch: the shorter window of the two stores. */
export function batchWindowMs({ store, perSecondStore }: Settings): number {
  return Math.min(store?.pipelineWindowMs ?? 0, perSecondStore?.pipelineWindowMs ?? Infinity);
}

/** What is left of a store's own window for batches that have gathered already. */
export function restOfWindowMs(store: StoreSettings, settings: Settings): number {
  return store.pipelineWindowMs - batchWindowMs(settings);
}

/** The longest delay of a timer in Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The settings of the gRPC port, in the words of the transports. */
export function toGrpcOptions(
  grpc: GrpcServerSettings,
  certificates: Certificates | undefined,
  bounds: BoundSettings,
): GrpcTransportOptions {
  const { host, port, unixSocket, unixSocketMode, tls, reflection } = grpc;
  return {
    address: unixSocket === undefined ? { host, port } : { path: unixSocket },
    unixSocketMode,
    tls: certificates && {
      ...certificates.first,
      renewals$: certificates.renewals$,
      clientName: tls?.clientName,
    },
    maxConnections: bounds.maxConnections,
    bounds,
    reflection,
    maxConnectionAgeMs: toAge(grpc.maxConnectionAgeMs),
    maxConnectionAgeGraceMs: toAge(grpc.maxConnectionAgeGraceMs),
  };
}

function toAge(ms: number): number | undefined {
  return ms === 0 ? undefined : Math.min(ms, MAX_TIMER_MS);
}
