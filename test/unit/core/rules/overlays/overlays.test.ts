import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse as parseYaml } from 'yaml';
import { placeOfLimit } from '../../../../../src/core/explain/explain-path';
import { listRules } from '../../../../../src/core/explain/list-rules';
import { compileInSlices } from '../../../../../src/core/rules/compile';
import { dumpRules } from '../../../../../src/core/rules/dump';
import type { ParsedRules } from '../../../../../src/core/rules/definition';
import { shareText } from '../../../../../src/core/rules/overlays/conflicts';
import { parseOverlays } from '../../../../../src/core/rules/overlays/parse-overlays';
import {
  parseRuleFiles,
  type ParseOptions,
} from '../../../../../src/core/rules/parse/parse-rule-files';
import { isError, messageOf } from '../../../../../src/fields/problem';
import { createParseResources } from '../../../../../src/rule-sources/xds/parse-resources';
import { readRuleFile } from '../../../../../src/rule-sources/yaml/read-rule-file';
import { inOneStep } from '../../../../support/in-one-step';
import { readLines, toLines } from '../../../../support/rule-lines';
import { briefly } from '../../../../support/rule-texts';
import { readTable } from '../../../../support/text-table';
import {
  toState,
  type WrittenConfig,
  type WrittenDescriptor,
} from '../../../../support/written-resources';

const tableOf = (name: string) => readTable(readFileSync(join(__dirname, name), 'utf8'));

const overlaysOf = (text: string) =>
  inOneStep(parseOverlays([readRuleFile('overlays.yaml', text)]));

const orOk = (lines: readonly unknown[]) => (lines.length === 0 ? ['ok'] : lines);

it.each(tableOf('mistakes.txt'))('what is wrong with $title', ({ given, expected }) => {
  const { overlays, problems } = overlaysOf(given);
  expect(orOk(problems.map((one) => `${briefly(one)}: ${one.message}`))).toEqual(expected);
  expect(problems.some(isError) ? overlays : []).toEqual([]);
});

/** Fields of the messages of xDS; others stand in `metadata.weir`. */
const OF_MESSAGES: Readonly<Record<string, string>> = {
  key: 'key',
  value: 'value',
  shadow_mode: 'shadowMode',
  quota_mode: 'quotaMode',
  detailed_metric: 'detailedMetric',
  metadata: 'metadata',
};
const WORDS = ['rate_limits', 'reserve', 'block', 'charge'];
type Fields = Readonly<Record<string, unknown>>;

/** A descriptor of a rule file as a message. */
function toMessage(written: Fields): WrittenDescriptor {
  const { rate_limit, descriptors, ...rest } = written as Fields & {
    readonly rate_limit?: Fields;
    readonly descriptors?: readonly Fields[];
  };
  const plain = Object.entries(rest).filter(([name]) => Object.hasOwn(OF_MESSAGES, name));
  const more = Object.entries(rest).filter(([name]) => !Object.hasOwn(OF_MESSAGES, name));
  const { unit, requests_per_unit, unlimited, name, replaces, ...limit } = rate_limit ?? {};
  const weir = {
    ...Object.fromEntries(more.filter(([one]) => WORDS.includes(one))),
    descriptor: Object.fromEntries(more.filter(([one]) => !WORDS.includes(one))),
    rate_limit: limit,
  };
  return {
    ...Object.fromEntries(plain.map(([one, value]) => [OF_MESSAGES[one], value])),
    ...(rate_limit && {
      rateLimit: {
        unit: typeof unit === 'string' ? unit.toUpperCase() : 'UNKNOWN',
        requestsPerUnit: requests_per_unit,
        ...{ unlimited, name, replaces },
      },
    }),
    weir,
    ...(descriptors && { descriptors: descriptors.map(toMessage) }),
  } as WrittenDescriptor;
}

const parseResources = createParseResources();

/** The rules of a file, read as one and as a resource. */
const SOURCES = {
  file: (text: string, options: ParseOptions) =>
    parseRuleFiles([readRuleFile('rules.yaml', text)], options),
  resource: (text: string, options: ParseOptions) => {
    const { descriptors, charge, ...config } = parseYaml(text, { version: '1.1' }) as Fields & {
      readonly descriptors: readonly Fields[];
    };
    const messages = descriptors.map((one) => toMessage({ ...one, ...(charge ? { charge } : {}) }));
    const resource = { ...config, descriptors: messages } as WrittenConfig;
    return parseResources([{ file: '', bytes: toState([resource]) }], options);
  },
};

/** What rules say, where it comes from, and the remarks. */
function linesOf({ domains, problems, overlaid }: ParsedRules): readonly unknown[] {
  return [
    ...problems.map(({ severity, file, at, message }) => {
      const where = file === 'overlays.yaml' && 'line' in at ? ` ${String(at.line)}` : '';
      return `${severity}${where}: ${message}`;
    }),
    ...toLines(domains),
    ...domains.flatMap(({ rules }) =>
      rules.flatMap(({ key, place }) =>
        (place?.overlaid ?? []).map(
          ({ at, names }) =>
            `${key} has ${names.join(', ')} of line ${'line' in at ? String(at.line) : ''}`,
        ),
      ),
    ),
    `given ${String(overlaid?.given)}, refused ${String(overlaid?.refused)}`,
  ];
}

describe.each(Object.entries(SOURCES))('rules of a %s', (source, parse) => {
  it.each(tableOf('given.txt'))('with $title', ({ given, options, expected }) => {
    const [text = '', overlays = ''] = given.split('> overlays\n');
    const read = overlaysOf(overlays);
    expect(read.problems).toEqual([]);
    const set = { text: JSON.stringify(read.overlays), digest: '' };
    const parsed = parse(text, { mergeDomains: false, ...options, overlays: set });
    const own = expected.filter(
      (line) => !/^(file|resource) only: /.test(line) || line.startsWith(source),
    );
    const lines = own.map((line) => line.replace(/^(file|resource) only: /, ''));
    expect(linesOf(parsed)).toEqual(readLines(lines));
  });
});

it('reads several files in the order of their names, and names the other one of a conflict', () => {
  const fileOf = (file: string, fields: string) =>
    readRuleFile(file, `overlays: [{domain: x, path: ["*"], rate_limit: {${fields}}}]\n`);
  const read = (...files: ReturnType<typeof readRuleFile>[]) => inOneStep(parseOverlays(files));
  const [burst, gcra] = [fileOf('b.yaml', 'burst: 3'), fileOf('a.yaml', 'algorithm: gcra')];
  expect(
    read(burst, gcra, readRuleFile('empty.yaml', '')).overlays.map(({ file }) => file),
  ).toEqual(['a.yaml', 'b.yaml']);
  const { overlays, problems } = read(fileOf('c.yaml', 'algorithm: sliding_window'), gcra, burst);
  expect(overlays).toEqual([]);
  expect(problems.map((one) => `${one.file} ${briefly(one)}: ${one.message}`)).toEqual([
    'c.yaml 1:12 overlay-conflict: this overlay and that on line 1 of "a.yaml" can match one rule and give algorithm of rate_limit two values; expected one value, or patterns that no rule matches both of',
  ]);
  const unreadable = readRuleFile('d.yaml', 'overlays: [');
  expect(read(unreadable, gcra).problems.map(briefly)).toEqual([
    expect.stringMatching(/ yaml-syntax$/),
  ]);
});

it('compares a thousand overlays in steps', () => {
  const lines = Array.from(
    { length: 1_000 },
    (_, at) =>
      `  - {domain: "d-${String(at)}-*", path: ["*"], rate_limit: {burst: ${String(at + 1)}}}`,
  );
  const steps = parseOverlays([readRuleFile('overlays.yaml', `overlays:\n${lines.join('\n')}\n`)]);
  expect([...steps].length).toBeGreaterThan(200);
});

it('says what two patterns share, as all texts say', () => {
  const text = fc.stringMatching(/^[ab]{0,5}$/);
  const pattern = fc.stringMatching(/^[ab*]{0,4}$/);
  const matches = (one: string, other: string) =>
    new RegExp(`^${one.replaceAll('*', '.*')}$`).test(other);
  const all = ['', 'a', 'b'];
  for (let from = 1; all.length < 2_000; from += 1)
    all.push(`${all[from] ?? ''}a`, `${all[from] ?? ''}b`);
  fc.assert(
    fc.property(pattern, fc.oneof(pattern, text), (one, other) => {
      const isShared = all.some((each) => matches(one, each) && matches(other, each));
      expect(shareText(one, other)).toBe(isShared);
      expect(shareText(other, one)).toBe(isShared);
    }),
  );
});

it('shows operators what a rule has from which overlay', () => {
  const rule = '{ key: k, rate_limit: { unit: hour, requests_per_unit: 9 } }';
  const { overlays } = overlaysOf(
    'overlays:\n  - {domain: x, path: ["*"], rate_limit: {algorithm: gcra, burst: 3}, descriptor: {detailed_metric: true}}\n',
  );
  const { domains } = SOURCES.file(`domain: x\ndescriptors: [${rule}, { key: l }]\n`, {
    mergeDomains: false,
    overlays: { text: JSON.stringify(overlays), digest: '' },
  });
  const rules = inOneStep(compileInSlices(domains, 100));
  const text = 'detailed_metric by the overlay at overlays.yaml:2';
  expect(dumpRules(rules)).toEqual([
    `x.k: unit=HOUR requests_per_unit=9, shadow_mode: false, quota_mode: false, limit: 9 per hour, bursts of 3, algorithm, burst, ${text}`,
  ]);
  expect([...listRules(rules, 0, 9)].map((listed) => listed?.overlays)).toEqual([
    [`algorithm, burst, ${text}`],
  ]);
  const [place] = rules.places.values();
  expect(placeOfLimit(place)).toMatchObject({ overlays: [`algorithm, burst, ${text}`] });
});

it('leaves rules alone that have a mistake of their own', () => {
  const rules =
    'domain: x\ndescriptors:\n  - {key: k, rate_limit: {unit: minute, requests_per_unit: -1}}\n';
  const { overlays } = overlaysOf(
    'overlays: [{domain: x, path: ["*"], rate_limit: {algorithm: gcra}}]',
  );
  const { problems } = SOURCES.file(rules, {
    mergeDomains: false,
    overlays: { text: JSON.stringify(overlays), digest: '' },
  });
  expect(problems.map(messageOf)).toEqual([
    'requests_per_unit must be a whole number from 0 to 4294967295, unquoted; found -1',
  ]);
});
