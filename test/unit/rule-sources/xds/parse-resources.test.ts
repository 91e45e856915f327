import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse as parseYaml } from 'yaml';
import type { DomainDefinition } from '../../../../src/core/rules/definition';
import { messageOf } from '../../../../src/fields/problem';
import { createParseResources } from '../../../../src/rule-sources/xds/parse-resources';
import { writtenBudgets } from '../../../support/budget-rules';
import { readLines, toLines } from '../../../support/rule-lines';
import { parseText } from '../../../support/rule-texts';
import { readTable } from '../../../support/text-table';
import { toState, type WrittenConfig } from '../../../support/written-resources';

const parseResources = createParseResources();
const parse = (written: readonly WrittenConfig[], mergeDomains = false) =>
  parseResources([{ file: '', bytes: toState(written) }], { mergeDomains });

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
