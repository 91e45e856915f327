import { loadRulesEncoder, RULES_TYPE_URL, type Struct, type Value } from './messages';
import { readResources, type Resource } from './read-response';

/** A brace begins JSON: no message does. */
const BRACE = 0x7b;

/**
 * The resources of an answer of a management server: a `DiscoveryResponse` or `DeltaDiscoveryResponse` as bytes, or as JSON (protobuf's
 * mapping, as grpcurl prints it). Throws where it is neither.
 */
export function readDump(bytes: Uint8Array): readonly Resource[] {
  const first = bytes.find((byte) => byte > 0x20);
  if (first !== BRACE) return readResources(bytes);
  const response = JSON.parse(new TextDecoder().decode(bytes)) as Json;
  const { resources } = response;
  if (!Array.isArray(resources)) throw new Error('the JSON has no list "resources"');
  const encode = loadRulesEncoder();
  return resources.map((one: unknown) => toResource(asJson(one, 'a resource'), encode));
}

type Json = Readonly<Record<string, unknown>>;

function asJson(value: unknown, what: string): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw new Error(`${what} must be an object`);
}

function toResource(json: Json, encode: (config: object) => Uint8Array): Resource {
  // A delta names its resources.
  if (json['resource'] !== undefined)
    return toResource(asJson(json['resource'], 'a resource'), encode);
  const { '@type': typeUrl, '@value': value, ...config } = json;
  if (typeof typeUrl !== 'string') throw new Error('a resource has no "@type"');
  if (typeof value === 'string') return { typeUrl, value: Buffer.from(value, 'base64') };
  return {
    typeUrl,
    value: typeUrl === RULES_TYPE_URL ? encode(toMessage(config)) : Buffer.alloc(0),
  };
}

/** Names in camel case; JSON may also have those of the protocol's file. */
function toMessage(json: Json): object {
  const fields = Object.entries(json).map(([name, value]) => {
    const camel = name.replace(/_([a-z])/g, (__, letter: string) => letter.toUpperCase());
    if (camel === 'metadata') return [camel, toStruct(asJson(value, 'metadata'))];
    if (Array.isArray(value)) return [camel, value.map((one) => toMessage(asJson(one, name)))];
    return [camel, typeof value === 'object' && value !== null ? toMessage(value as Json) : value];
  });
  return Object.fromEntries(fields) as object;
}

function toStruct(json: Json): Struct {
  const fields = Object.entries(json).map(([name, value]) => [name, toValue(value)]);
  return { fields: Object.fromEntries(fields) as Readonly<Record<string, Value>> };
}

function toValue(json: unknown): Value {
  if (typeof json === 'string') return { stringValue: json };
  if (typeof json === 'number') return { numberValue: json };
  if (typeof json === 'boolean') return { boolValue: json };
  if (Array.isArray(json)) return { listValue: { values: json.map(toValue) } };
  return json === null ? {} : { structValue: toStruct(json as Json) };
}
