import { loadProtos } from '../../src/platform/proto-files';
import type { RateLimitConfig } from '../../src/rule-sources/xds/messages';

export const TYPE_URL = 'type.googleapis.com/ratelimit.config.ratelimit.v3.RateLimitConfig';

const protos = loadProtos(['ratelimit/config/ratelimit/v3/rls_conf.proto']);

/** An `Any` of the protocol; protobufjs brings its definition along and writes it so. */
export interface Resource {
  readonly type_url: string;
  readonly value: Uint8Array;
}

/** A resource of rules as a server sends it. */
export function toResource(config: RateLimitConfig): Resource {
  const type = protos['ratelimit.config.ratelimit.v3.RateLimitConfig'];
  if (type === undefined || !('serialize' in type)) throw new Error('no message RateLimitConfig');
  const serialize = type.serialize as (config: RateLimitConfig) => Buffer;
  return { type_url: TYPE_URL, value: serialize(config) };
}

/** Rules with one limit per hour for the key `user`. */
export function userLimit(domain: string, requestsPerUnit: number): RateLimitConfig {
  const rateLimit = { unit: 'HOUR', requestsPerUnit };
  return { name: `${domain}.rules`, domain, descriptors: [{ key: 'user', rateLimit }] };
}

/** A domain of so many rules. */
export function manyLimits(count: number, requestsPerUnit: number): RateLimitConfig {
  const rateLimit = { unit: 'MINUTE', requestsPerUnit };
  const descriptors = Array.from({ length: count }, (_, i) => ({
    key: 'path',
    value: `/api/v1/resource-${String(i)}`,
    rateLimit,
  }));
  return { name: 'many', domain: 'many', descriptors };
}

/** A `DiscoveryResponse`. */
export function response(version: string, nonce: string, configs: readonly RateLimitConfig[]) {
  return { versionInfo: version, nonce, typeUrl: TYPE_URL, resources: configs.map(toResource) };
}

/** A `DeltaDiscoveryResponse`; resources are named like their configs. */
export function deltaResponse(
  nonce: string,
  version: string,
  configs: readonly RateLimitConfig[],
  removedResources: readonly string[] = [],
) {
  const resources = configs.map((config) => ({
    name: config.name,
    version,
    resource: toResource(config),
  }));
  return { systemVersionInfo: version, nonce, typeUrl: TYPE_URL, resources, removedResources };
}
