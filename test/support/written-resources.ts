import { loadProtos } from '../../src/platform/proto-files';
import { toMessage } from '../../src/rule-sources/xds/delta';
import type {
  RateLimitConfig,
  RateLimitDescriptor,
  Value,
} from '../../src/rule-sources/xds/messages';
import { toResource } from './xds-messages';

const any = loadProtos(['envoy/service/discovery/v3/ads.proto'])['google.protobuf.Any'];

/** The bytes of a state of the world. */
export function toState(written: readonly WrittenConfig[]): Uint8Array {
  const configs = written.map(({ descriptors, ...config }): RateLimitConfig => ({
    ...config,
    ...(descriptors && { descriptors: descriptors.map(toDescriptor) }),
  }));
  if (any === undefined || !('serialize' in any)) throw new Error('no Any');
  const serialize = any.serialize as (resource: object) => Buffer;
  const entries = configs.map((config, index) => {
    const resource = serialize(toResource(config));
    return [String(index), { version: '', resource }] as const;
  });
  return toMessage(new Map(entries));
}

/** A descriptor as a table writes it. */
export type WrittenDescriptor = Omit<RateLimitDescriptor, 'metadata' | 'descriptors'> & {
  readonly metadata?: object;
  readonly weir?: unknown;
  readonly descriptors?: readonly WrittenDescriptor[];
};
/** A resource likewise. */
export type WrittenConfig = Omit<RateLimitConfig, 'descriptors'> & {
  readonly descriptors?: readonly WrittenDescriptor[];
};

const struct = (fields: object): Readonly<Record<string, Value>> =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, valueOf(value)]),
  );

function valueOf(json: unknown): Value {
  if (Array.isArray(json)) return { listValue: { values: json.map(valueOf) } };
  if (typeof json === 'string') return { stringValue: json };
  if (typeof json === 'number') return { numberValue: json };
  if (typeof json === 'boolean') return { boolValue: json };
  return typeof json === 'object' && json !== null ? { structValue: { fields: struct(json) } } : {};
}

function toDescriptor({
  metadata,
  weir,
  descriptors,
  ...rest
}: WrittenDescriptor): RateLimitDescriptor {
  const all = { ...metadata, weir };
  return {
    ...rest,
    ...(metadata === undefined && weir === undefined ? {} : { metadata: { fields: struct(all) } }),
    ...(descriptors && { descriptors: descriptors.map(toDescriptor) }),
  };
}
