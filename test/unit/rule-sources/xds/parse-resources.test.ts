import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse as parseYaml } from 'yaml';
import type { DomainDefinition } from '../../../../src/core/rules/definition';
import { messageOf } from '../../../../src/fields/problem';
import { loadProtos } from '../../../../src/platform/proto-files';
import { toMessage } from '../../../../src/rule-sources/xds/delta';
import type {
  RateLimitConfig,
  RateLimitDescriptor,
  Value,
} from '../../../../src/rule-sources/xds/messages';
import { createParseResources } from '../../../../src/rule-sources/xds/parse-resources';
import { writtenBudgets } from '../../../support/budget-rules';
import { readLines, toLines } from '../../../support/rule-lines';
import { parseText } from '../../../support/rule-texts';
import { readTable } from '../../../support/text-table';
import { toResource } from '../../../support/xds-messages';

const parseResources = createParseResources();
const any = loadProtos(['envoy/service/discovery/v3/ads.proto'])['google.protobuf.Any'];

/** The bytes of a state of the world. */
function toBytes(configs: readonly RateLimitConfig[]): Uint8Array {
  if (any === undefined || !('serialize' in any)) throw new Error('no Any');
  const serialize = any.serialize as (resource: object) => Buffer;
  const entries = configs.map((config, index) => {
    const resource = serialize(toResource(config));
    return [String(index), { version: '', resource }] as const;
  });
  return toMessage(new Map(entries));
}

/** A descriptor as a table writes it. */
type Written = Omit<RateLimitDescriptor, 'metadata' | 'descriptors'> & {
  readonly metadata?: object;
  readonly weir?: unknown;
  readonly descriptors?: readonly Written[];
};
type WrittenConfig = Omit<RateLimitConfig, 'descriptors'> & {
  readonly descriptors?: readonly Written[];
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

function toDescriptor({ metadata, weir, descriptors, ...rest }: Written): RateLimitDescriptor {
  const all = { ...metadata, weir };
  return {
    ...rest,
    ...(metadata === undefined && weir === undefined ? {} : { metadata: { fields: struct(all) } }),
    ...(descriptors && { descriptors: descriptors.map(toDescriptor) }),
  };
}

function parse(written: readonly WrittenConfig[], mergeDomains = false) {
  const configs = written.map(({ descriptors, ...config }) => ({
    ...config,
    ...(descriptors && { descriptors: descriptors.map(toDescriptor) }),
  }));
  return parseResources([{ file: '', bytes: toBytes(configs) }], { mergeDomains });
}

const TABLE = readTable(readFileSync(join(__dirname, 'resources.txt'), 'utf8'));

it.each(TABLE)('resources $title', ({ given, options, expected }) => {
  const merge = options['mergeDomains'] === true;
  const { domains, problems } = parse(parseYaml(given) as readonly WrittenConfig[], merge);
  const found = problems.map((one) => `${one.severity} ${one.file}: ${messageOf(one)}`);
  expect([...found, ...toLines(domains)]).toEqual(readLines(expected));
});

it('say at which path their rules stand', () => {
  const [domain] = parse([
    { name: 'c', domain: 'x', descriptors: [{ key: 'a', descriptors: [{ key: 'b' }] }] },
  ]).domains;
  const placeAt = (path: string) => ({ file: 'c', at: { path }, limitAt: undefined });
  expect(domain?.rules.map(({ place }) => place)).toEqual([
    placeAt('descriptors[0]'),
    placeAt('descriptors[0].descriptors[0]'),
  ]);
});

it('cannot be read out of bytes that are no message', () => {
  const garbage = [{ file: '', bytes: Uint8Array.of(0x12, 0xff) }];
  expect(() => parseResources(garbage, { mergeDomains: false })).toThrow(
    'not a protobuf message: a varint is cut off',
  );
});

const withoutPlaces = (domains: readonly DomainDefinition[]): readonly object[] =>
  domains.map(({ rules, ...domain }) => ({
    ...domain,
    rules: rules.map((rule) => ({ ...rule, place: undefined })),
  }));

it('say several limits, reservations and blocks as a rule file does', () => {
  fc.assert(
    fc.property(writtenBudgets, fc.constantFrom('together', 'apart'), (rule, charge) => {
      const file = { domain: 'd', charge, descriptors: [{ key: 'user', ...rule }] };
      const ofFile = parseText(JSON.stringify(file));
      const ofMessage = parse([
        { domain: 'd', descriptors: [{ key: 'user', weir: { ...rule, charge } }] },
      ]);
      expect(ofMessage.problems).toEqual([]);
      expect(withoutPlaces(ofMessage.domains)).toEqual(withoutPlaces(ofFile.domains));
    }),
  );
});
