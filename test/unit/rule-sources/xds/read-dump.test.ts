import { createParseResources } from '../../../../src/rule-sources/xds/parse-resources';
import { readDump } from '../../../../src/rule-sources/xds/read-dump';
import { toState, type WrittenConfig } from '../../../support/written-resources';
import { TYPE_URL } from '../../../support/xds-messages';

const parse = createParseResources(readDump);
const rulesOf = (content: string | Uint8Array) =>
  parse([{ file: 'dump', bytes: Buffer.from(content) }], { mergeDomains: false });
const json = (...resources: readonly unknown[]) => JSON.stringify({ versionInfo: '3', resources });

const WEIR = { rate_limit: { algorithm: 'gcra', burst: 7 }, block: { for: '1m', after: 2 } };
const WRITTEN: WrittenConfig = {
  ...{ name: 'c', domain: 'shop' },
  descriptors: [
    {
      ...{ key: 'a', value: 'b*', shadowMode: true, detailedMetric: true },
      rateLimit: { unit: 'HOUR', requestsPerUnit: 5, name: 'n', replaces: [{ name: 'm' }] },
      metadata: { team: ['x', null, { deep: 1.5, on: false }] },
      weir: WEIR,
    },
    { key: 'c', quotaMode: true, descriptors: [{ key: 'd', rateLimit: { unlimited: true } }] },
  ],
};
const [A, C] = WRITTEN.descriptors ?? [];
/** As grpcurl prints it. */
const SHOWN = {
  ...{ '@type': TYPE_URL, ...WRITTEN },
  descriptors: [{ ...A, weir: undefined, metadata: { ...A?.metadata, weir: WEIR } }, C],
};
const SNAKE = JSON.parse(
  JSON.stringify(SHOWN).replaceAll(
    /"(rateLimit|requestsPerUnit|shadowMode|detailedMetric|quotaMode)"/g,
    (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  ),
) as unknown;

it.each<readonly [string, string | Uint8Array]>([
  ['bytes', toState([WRITTEN])],
  ['JSON', json(SHOWN)],
  ['JSON after blank lines', ` \n\n${json(SHOWN)}`],
  ['JSON with the names of the protocol', json(SNAKE)],
  ['JSON of a delta', json({ name: 'c', version: '1', resource: SHOWN })],
])('a dump as %s holds the same rules', (_, dump) => {
  const { domains, problems } = rulesOf(dump);
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(domains).toEqual(rulesOf(toState([WRITTEN])).domains);
  expect(domains[0]?.rules).toHaveLength(3);
});

it('a dump holds resources that its writer could not read', () => {
  const bytes = Buffer.from(toState([{ ...WRITTEN }]));
  const [resource] = readDump(bytes);
  const unread = {
    ...{ '@type': resource?.typeUrl, '@error': 'unknown type' },
    '@value': Buffer.from(resource?.value ?? '').toString('base64'),
  };
  expect(rulesOf(json(unread)).domains).toEqual(rulesOf(bytes).domains);
});

it.each([
  ['{', /JSON/],
  ['{}', /^the JSON has no list "resources"$/],
  ['{"resources":{}}', /^the JSON has no list "resources"$/],
  [json(7), /^a resource must be an object$/],
  [json({ domain: 'x' }), /^a resource has no "@type"$/],
  [json({ '@type': TYPE_URL, descriptors: [1] }), /^descriptors must be an object$/],
  [json({ '@type': TYPE_URL, descriptors: [{ metadata: [] }] }), /^metadata must be an object$/],
  [Uint8Array.of(0x12, 0xff), /not a protobuf message/],
])('a dump that is no answer is refused: %s', (dump, message) => {
  expect(() => rulesOf(dump)).toThrow(message);
});

it('names a resource of another type', () => {
  const other = json({ '@type': 'type.googleapis.com/other.Thing', x: 1 });
  expect(rulesOf(other).problems.map(({ message }) => message)).toEqual([
    `the type of the resource is "type.googleapis.com/other.Thing"; expected ${TYPE_URL}`,
  ]);
});
