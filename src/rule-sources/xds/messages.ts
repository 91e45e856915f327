import type { PackageDefinition } from '@grpc/proto-loader';
import { loadProtos } from '../../platform/proto-files';

export const RULES_TYPE_URL = 'type.googleapis.com/ratelimit.config.ratelimit.v3.RateLimitConfig';

const ADS = 'envoy.service.discovery.v3.AggregatedDiscoveryService';
const RULES = 'ratelimit.config.ratelimit.v3.RateLimitConfig';

export type Method = 'StreamAggregatedResources' | 'DeltaAggregatedResources';

/** This node, as the management server knows it; metadata is a `google.protobuf.Struct`. */
export interface Node {
  readonly id: string;
  readonly metadata: {
    readonly fields: Readonly<Record<string, { readonly stringValue: string }>>;
  };
}

/** `google.rpc.Status`. */
export interface Status {
  readonly code: number;
  readonly message: string;
}

/** `envoy.service.discovery.v3.DiscoveryRequest`. */
export interface DiscoveryRequest {
  readonly node: Node;
  readonly typeUrl: string;
  readonly versionInfo?: string;
  readonly responseNonce?: string;
  readonly errorDetail?: Status;
}

/** `envoy.service.discovery.v3.DeltaDiscoveryRequest`. */
export interface DeltaDiscoveryRequest extends Omit<DiscoveryRequest, 'versionInfo'> {
  readonly initialResourceVersions?: Readonly<Record<string, string>>;
}

/** `ratelimit.config.ratelimit.v3.RateLimitConfig`; absent fields have their type's zero value. */
export interface RateLimitConfig {
  readonly name?: string;
  readonly domain?: string;
  readonly descriptors?: readonly RateLimitDescriptor[];
}

export interface RateLimitDescriptor {
  readonly key?: string;
  readonly value?: string;
  readonly rateLimit?: RateLimitPolicy;
  readonly descriptors?: readonly RateLimitDescriptor[];
  readonly shadowMode?: boolean;
  readonly detailedMetric?: boolean;
  readonly quotaMode?: boolean;
  readonly metadata?: Struct;
}

export interface RateLimitPolicy {
  /** A number when it is unknown to the protocol. */
  readonly unit?: string | number;
  readonly requestsPerUnit?: number;
  readonly unlimited?: boolean;
  readonly name?: string;
  readonly replaces?: readonly { readonly name?: string }[];
}

/** `google.protobuf.Struct`. */
export interface Struct {
  readonly fields?: Readonly<Record<string, Value>>;
}

/** `google.protobuf.Value`; at most one field is set. */
export interface Value {
  readonly numberValue?: number;
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly structValue?: Struct;
  readonly listValue?: { readonly values?: readonly Value[] };
}

/** Reads the service's definition from `proto/`; takes some fifty milliseconds. */
export function loadMethod(method: Method) {
  const service = load('envoy/service/discovery/v3/ads.proto')[ADS];
  const found = service !== undefined && !('format' in service) ? service[method] : undefined;
  if (found === undefined) throw new Error(`ads.proto has no method ${method}`);
  return { path: found.path, serialize: found.requestSerialize };
}

/** How to call a method of the aggregated discovery service. */
export type MethodCodec = ReturnType<typeof loadMethod>;

/** A decoder of rules; it throws when the bytes are not a message. */
export function loadRulesDecoder(): (bytes: Uint8Array) => RateLimitConfig {
  const type = load('ratelimit/config/ratelimit/v3/rls_conf.proto')[RULES];
  if (type === undefined || !('deserialize' in type)) throw new Error(`no message ${RULES}`);
  const deserialize = type.deserialize as (bytes: Buffer) => RateLimitConfig;
  return ({ buffer, byteOffset, length }) => deserialize(Buffer.from(buffer, byteOffset, length));
}

/** An encoder of rules, for what is not from a server. */
export function loadRulesEncoder(): (config: object) => Uint8Array {
  const type = load('ratelimit/config/ratelimit/v3/rls_conf.proto')[RULES];
  if (type === undefined || !('serialize' in type)) throw new Error(`no message ${RULES}`);
  return type.serialize as (config: object) => Uint8Array;
}

function load(file: string): PackageDefinition {
  return loadProtos([file]);
}
