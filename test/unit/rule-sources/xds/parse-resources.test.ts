import fc from 'fast-check';
import type { DomainDefinition } from '../../../../src/core/rules/definition';
import type {
  RateLimitConfig,
  RateLimitDescriptor,
  Value,
} from '../../../../src/rule-sources/xds/messages';
import { createParseResources } from '../../../../src/rule-sources/xds/parse-resources';
import { toMessage } from '../../../../src/rule-sources/xds/delta';
import { compileRules } from '../../../../src/core/rules/compile';
import { messageOf } from '../../../../src/fields/problem';
import { dumpRules } from '../../../../src/core/rules/dump';
import { loadProtos } from '../../../../src/platform/proto-files';
import { writtenBudgets } from '../../../support/budget-rules';
import { parseText } from '../../../support/rule-texts';
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

function parse(configs: readonly RateLimitConfig[], mergeDomains = false) {
  return parseResources([{ file: '', bytes: toBytes(configs) }], { mergeDomains });
}

const problemsOf = (...parameters: Parameters<typeof parse>) =>
  parse(...parameters).problems.map(
    (problem) => `${problem.severity} ${problem.file}: ${messageOf(problem)}`,
  );

const rateLimit = { unit: 'HOUR', requestsPerUnit: 5 };

const placeAt = (path: string) => ({ file: 'c1', at: { path }, limitAt: { path } });

describe('rules out of protobuf messages', () => {
  it('say what the same rules in a file would say', () => {
    const { domains, problems } = parse([
      {
        name: 'c1',
        domain: 'shop',
        descriptors: [
          {
            key: 'user',
            value: '0x10',
            rateLimit: {
              ...rateLimit,
              unit: 'WEEK',
              name: 'weekly',
              replaces: [{ name: 'daily' }],
            },
            shadowMode: true,
            quotaMode: true,
            detailedMetric: true,
            metadata: {
              fields: {
                text: { stringValue: '1' },
                number: { numberValue: 1.5e-9 },
                large: { numberValue: 1e21 },
                yes: { boolValue: true },
                no: { boolValue: false },
                nothing: {},
                list: { listValue: { values: [{ numberValue: 0 }, { stringValue: '' }] } },
                empty: { listValue: {} },
                deep: { structValue: { fields: { a: { structValue: {} } } } },
              },
            },
            descriptors: [{ key: 'path', rateLimit: { unlimited: true, name: 'daily' } }],
          },
        ],
      },
    ]);
    expect(problems).toEqual([]);
    expect(domains).toEqual([
      {
        domain: 'shop',
        rules: [
          {
            parent: -1,
            place: placeAt('descriptors[0]'),
            key: 'user',
            value: '0x10',
            limit: {
              unit: 'WEEK',
              requestsPerUnit: 5,
              unlimited: false,
              name: 'weekly',
              replaces: ['daily'],
            },
            shadowMode: true,
            quotaMode: true,
            detailedMetric: true,
            valueToMetric: false,
            shareThreshold: false,
            metadata: {
              text: '1',
              number: 1.5e-9,
              large: 1e21,
              yes: true,
              no: false,
              nothing: null,
              list: [0, ''],
              empty: [],
              deep: { a: {} },
            },
          },
          {
            parent: 0,
            place: placeAt('descriptors[0].descriptors[0]'),
            key: 'path',
            value: undefined,
            limit: {
              unit: undefined,
              requestsPerUnit: 0,
              unlimited: true,
              name: 'daily',
              replaces: [],
            },
            shadowMode: false,
            quotaMode: false,
            detailedMetric: false,
            valueToMetric: false,
            shareThreshold: false,
            metadata: undefined,
          },
        ],
      },
    ]);
  });

  it('block every request where they have a unit and no number, which is 0', () => {
    const { domains } = parse([
      { domain: 'shop', descriptors: [{ key: 'user', rateLimit: { unit: 'DAY' } }] },
    ]);
    expect(dumpRules(compileRules(domains))[0]).toContain('requests_per_unit=0');
  });

  it('may be none at all', () => {
    expect(parse([])).toEqual({ domains: [], problems: [] });
  });

  it.each<[string, RateLimitConfig, string]>([
    ['no domain', { name: 'c1' }, 'c1: the resource has no domain: expected domain:'],
    ['no name either', {}, 'resource 1: the resource has no domain'],
    ['no key', { domain: 'd', descriptors: [{}] }, 'd: descriptors[0]: a descriptor has no key'],
    [
      'no unit',
      { domain: 'd', descriptors: [{ key: 'a', rateLimit: { requestsPerUnit: 1 } }] },
      'd: descriptors[0]: unit is missing: expected one of second, minute',
    ],
    [
      'the unit UNKNOWN, written out',
      { domain: 'd', descriptors: [{ key: 'a', rateLimit: { unit: 'UNKNOWN' } }] },
      'd: descriptors[0]: unit is missing',
    ],
    [
      'a unit that is none',
      { domain: 'd', descriptors: [{ key: 'a', rateLimit: { unit: 99 } }] },
      'd: descriptors[0]: unit "99" is not one of second',
    ],
    [
      'a unit beside unlimited',
      { domain: 'd', descriptors: [{ key: 'a', rateLimit: { unit: 'DAY', unlimited: true } }] },
      'd: descriptors[0]: unit "DAY" cannot be combined with unlimited: true',
    ],
    [
      'a name that replaces itself, deep down',
      {
        domain: 'd',
        descriptors: [
          { key: 'a' },
          {
            key: 'b',
            descriptors: [
              { key: 'c' },
              { key: 'd', rateLimit: { ...rateLimit, name: 'x', replaces: [{ name: 'x' }] } },
            ],
          },
        ],
      },
      'd: descriptors[1].descriptors[1]: replaces names this limit itself, "x"',
    ],
    [
      'a key twice',
      {
        domain: 'd',
        descriptors: [
          { key: 'a', value: ' on line 9' },
          { key: 'a', value: ' on line 9' },
        ],
      },
      'd: descriptors[1]: key "a" with value " on line 9" is already defined at descriptors[0]; expected',
    ],
    [
      'two that read the same',
      { domain: 'd', descriptors: [{ key: 'a_b' }, { key: 'a', value: 'b' }] },
      'd: descriptors[1]: key "a" with value "b" reads the same in counters and metrics, "a_b", as key "a_b" at descriptors[0]',
    ],
  ])('are refused with %s', (_, config, message) => {
    const [first = ''] = problemsOf([config]);
    expect(first.slice(0, `error ${message}`.length)).toBe(`error ${message}`);
    expect(parse([config]).domains).toEqual([]);
  });

  it('are refused when two have a domain, unless domains are merged', () => {
    const one = { name: 'c1', domain: 'd', descriptors: [{ key: 'a' }] };
    const two = { name: 'c2', domain: 'd', descriptors: [{ key: 'b' }, { key: 'a' }] };
    expect(problemsOf([one, two])).toEqual([
      'error c2: domain "d" is already defined in c1; expected one resource for a domain, or MERGE_DOMAIN_CONFIG=true',
    ]);
    expect(problemsOf([one, two], true)).toEqual([
      'error c2: descriptors[1]: key "a" is already defined at descriptors[0] of c1; expected each key and value once on a level; for several limits of one value use rate_limits, see docs/rules.md',
    ]);
    expect(parse([one, { ...two, descriptors: [{ key: 'b' }] }], true).domains).toHaveLength(1);
  });

  it('are told apart when they have the same name', () => {
    const bad = { name: 'c1', domain: 'd', descriptors: [{ value: 'x' }] };
    expect(problemsOf([bad, { ...bad, domain: 'e' }]).map((text) => text.slice(0, 40))).toEqual([
      'error c1: descriptors[0]: a descriptor h',
      'error c1 (resource 2): descriptors[0]: a',
    ]);
  });

  it('keep remarks, with their place', () => {
    expect(problemsOf([{ domain: 'd', descriptors: [{ key: 'a', shadowMode: true }] }])).toEqual([
      'warning d: descriptors[0]: shadow_mode has no effect in a descriptor without rate_limit',
    ]);
  });

  it('cannot be read out of bytes that are no message', () => {
    const garbage = [{ file: '', bytes: Uint8Array.of(0x12, 0xff) }];
    expect(() => parseResources(garbage, { mergeDomains: false })).toThrow(
      'not a protobuf message: a varint is cut off',
    );
  });
});

describe('metadata.weir of a descriptor', () => {
  const weirOf = (weir: Value, more: Partial<RateLimitDescriptor> = {}): RateLimitConfig => ({
    name: 'c',
    domain: 'shop',
    descriptors: [
      {
        key: 'user',
        value: 'a*',
        rateLimit,
        metadata: { fields: { weir, owner: { stringValue: 'team' } } },
        ...more,
      },
    ],
  });
  const struct = (fields: Readonly<Record<string, Value>>): Value => ({ structValue: { fields } });

  it('gives a rule the fields that the messages lack, and is taken out', () => {
    const { domains, problems } = parse([
      weirOf(
        struct({
          rate_limit: struct({
            algorithm: { stringValue: 'gcra' },
            burst: { numberValue: 3 },
            charge_denied: { boolValue: true },
            unit_multiplier: { numberValue: 2 },
            limits_from: struct({ key: { stringValue: 'plans' }, refresh: { stringValue: '5s' } }),
          }),
          descriptor: struct({
            value_to_metric: { boolValue: true },
            share_threshold: { boolValue: true },
            on_store_error: { stringValue: 'local' },
          }),
        }),
      ),
    ]);
    expect(problems).toEqual([]);
    expect(domains[0]?.rules[0]).toMatchObject({
      limit: {
        algorithm: 'gcra',
        burst: 3,
        chargeDenied: true,
        unitMultiplier: 2,
        limitsFrom: { key: 'plans', refreshMs: 5_000 },
      },
      valueToMetric: true,
      shareThreshold: true,
      onStoreError: 'local',
      metadata: { owner: 'team' },
    });
  });

  it.each([true, false])(
    'leases the hits of a rule, or does not, as its word says: %s',
    (leased) => {
      const said = weirOf(struct({ rate_limit: struct({ leased: { boolValue: leased } }) }));
      const { domains, problems } = parse([said]);
      expect(problems).toEqual([]);
      const rules = compileRules(domains, { leases: !leased });
      expect(dumpRules(rules).join().includes(', leased: true')).toBe(leased);
    },
  );

  it('refuses to lease what cannot be leased, at its path', () => {
    const leased = { boolValue: true };
    const gcra = { algorithm: { stringValue: 'gcra' }, leased };
    const mistakes = problemsOf([weirOf(struct({ rate_limit: struct(gcra) }))]);
    expect(mistakes).toEqual([
      'error c: descriptors[0].metadata.weir.rate_limit: leased: true cannot be combined with algorithm: gcra; expected one or the other',
    ]);
    const together = { charge: { stringValue: 'together' }, rate_limit: struct({ leased }) };
    expect(problemsOf([weirOf(struct(together))])).toEqual([
      'error c: descriptors[0].metadata.weir.rate_limit: leased: true cannot be combined with charge: together; expected one or the other',
    ]);
  });

  it('makes the values of a key secret', () => {
    const token = `s-${'0'.repeat(32)}`;
    const secretOf = (fields: Readonly<Record<string, Value>>) =>
      parse([weirOf(struct({ descriptor: struct(fields) }))]).domains[0]?.rules[0];
    expect(secretOf({ hash_value: { boolValue: true } })).toMatchObject({ secret: 'keyed' });
    expect(secretOf({ hash_value: { stringValue: 'sha256' } })).toMatchObject({ secret: 'sha256' });
    expect(
      problemsOf([weirOf(struct({ descriptor: struct({ value_hash: { stringValue: token } }) }))]),
    ).toEqual([
      'error c: descriptors[0].metadata.weir.descriptor: value_hash cannot be combined with value; expected one or the other',
    ]);
  });

  it('that is all there is leaves no metadata', () => {
    const metadata = { fields: { weir: struct({}) } };
    const { domains } = parse([weirOf({}, { metadata })]);
    expect(domains[0]?.rules[0]?.metadata).toBeUndefined();
  });

  it.each<[string, Value, string]>([
    [
      'a string',
      { stringValue: 'gcra' },
      'metadata.weir: expected an object with rate_limit, descriptor',
    ],
    [
      'an unknown part',
      struct({ ratelimit: struct({}) }),
      'metadata.weir: unknown key "ratelimit": did you mean "rate_limit"? known keys are rate_limit, descriptor',
    ],
    [
      'a number as its limit',
      struct({ rate_limit: { numberValue: 1 } }),
      'metadata.weir.rate_limit: expected an object with algorithm, burst',
    ],
    [
      'a field that the message has',
      struct({ rate_limit: struct({ unit: { stringValue: 'day' } }) }),
      'metadata.weir.rate_limit: unknown key "unit": known keys are algorithm',
    ],
    [
      'a flag that the message has',
      struct({ descriptor: struct({ quota_mode: { boolValue: true } }) }),
      'metadata.weir.descriptor: unknown key "quota_mode": known keys are value_to_metric, share_threshold, on_store_error, hash_value, value_hash',
    ],
    [
      'a burst of 0',
      struct({
        rate_limit: struct({ algorithm: { stringValue: 'gcra' }, burst: { numberValue: 0 } }),
      }),
      'metadata.weir.rate_limit: burst must be a whole number from 1 to 50000000',
    ],
    [
      'limits without a hash',
      struct({ rate_limit: struct({ limits_from: struct({}) }) }),
      'metadata.weir.rate_limit: limits_from has no key',
    ],
    [
      'an unknown policy',
      struct({ descriptor: struct({ on_store_error: { stringValue: 'never' } }) }),
      'metadata.weir.descriptor: on_store_error "never" is not one of',
    ],
  ])('that is or holds %s is a mistake at its path', (_, weir, message) => {
    expect(problemsOf([weirOf(weir)])[0]).toContain(`error c: descriptors[0].${message}`);
  });

  const valueOf = (json: unknown): Value => {
    if (Array.isArray(json)) return { listValue: { values: json.map(valueOf) } };
    if (typeof json === 'string') return { stringValue: json };
    if (typeof json === 'number') return { numberValue: json };
    if (typeof json === 'boolean') return { boolValue: json };
    if (typeof json !== 'object' || json === null) return {};
    const said = Object.entries(json).filter(([, value]) => value !== undefined);
    return struct(Object.fromEntries(said.map(([name, value]) => [name, valueOf(value)])));
  };
  const inWeir = (weir: object, more: Partial<RateLimitDescriptor> = {}): RateLimitDescriptor => ({
    key: 'user',
    metadata: { fields: { weir: valueOf(weir) } },
    ...more,
  });
  const withoutPlaces = (domains: readonly DomainDefinition[]): readonly object[] =>
    domains.map(({ rules, ...domain }) => ({
      ...domain,
      rules: rules.map((rule) => ({ ...rule, place: undefined })),
    }));

  it('says several limits, reservations and blocks as a rule file does', () => {
    fc.assert(
      fc.property(writtenBudgets, fc.constantFrom('together', 'apart'), (rule, charge) => {
        const file = { domain: 'd', charge, descriptors: [{ key: 'user', ...rule }] };
        const ofFile = parseText(JSON.stringify(file));
        const ofMessage = parse([{ domain: 'd', descriptors: [inWeir({ ...rule, charge })] }]);
        expect(ofMessage.problems).toEqual([]);
        expect(withoutPlaces(ofMessage.domains)).toEqual(withoutPlaces(ofFile.domains));
      }),
    );
  });

  it('adds reservations and blocks to the limit of the message', () => {
    const [domain] = parse([
      {
        domain: 'd',
        descriptors: [
          inWeir({ reserve: null, rate_limit: { block: { for: '1m' } } }, { rateLimit }),
          inWeir(
            { rate_limit: { algorithm: 'in_flight' }, block: { for: '1m' } },
            { key: 'tenant', rateLimit: { requestsPerUnit: 5 } },
          ),
        ],
      },
    ]).domains;
    expect(domain?.rules.map(({ budget }) => budget)).toMatchObject([
      {
        limits: [{ unit: 'HOUR', requestsPerUnit: 5, block: { forMs: 60_000, after: 1 } }],
        reserve: { leaseMs: 600_000, unsettled: 'charge' },
      },
      { limits: [{ isInFlight: true, requestsPerUnit: 5 }], block: { forMs: 60_000 } },
    ]);
  });

  it.each<[string, readonly RateLimitDescriptor[], readonly string[]]>([
    [
      'rate_limit beside rate_limits',
      [inWeir({ rate_limits: [{ unit: 'day', requests_per_unit: 1 }] }, { rateLimit })],
      [
        'error d: descriptors[0]: rate_limit cannot be combined with rate_limits; expected one or the other',
      ],
    ],
    [
      'one limit of a list',
      [
        inWeir({
          rate_limits: [
            { unit: 'day', requests_per_unit: 1 },
            { unit: 'fortnight', requests_per_unit: 1 },
          ],
        }),
      ],
      [
        'error d: descriptors[0].metadata.weir.rate_limits[1]: unit "fortnight" is not one of second, minute, hour, day, week, month, year',
      ],
    ],
    [
      'two limits of a list',
      [
        inWeir({
          rate_limits: [
            { unit: 'day', requests_per_unit: 1 },
            { unit: 'day', requests_per_unit: 2 },
          ],
        }),
      ],
      [
        'error d: descriptors[0].metadata.weir.rate_limits[1]: two of the rate_limits are day, this one and the one at descriptors[0].metadata.weir.rate_limits[0]; expected each algorithm and period once',
      ],
    ],
    [
      'an object in place of the list',
      [inWeir({ rate_limits: {} })],
      [
        'error d: descriptors[0].metadata.weir.rate_limits: rate_limits must be a list; found a map',
      ],
    ],
    [
      'a lease and a block',
      [inWeir({ reserve: { lease: '1d' }, block: {} }, { rateLimit })],
      [
        'error d: descriptors[0].metadata.weir.block: block has no for: expected how long it lasts, such as for: 15m',
        'error d: descriptors[0].metadata.weir.reserve: lease "1d" is not a duration from 1s to 24h, such as 90s, 10m or 1h30m',
      ],
    ],
    [
      'a child that is called as reservations are',
      [inWeir({ reserve: {} }, { rateLimit, descriptors: [{ key: 'settle', rateLimit }] })],
      [
        'error d: descriptors[0].descriptors[0]: the key "settle" belongs to the reservations of the rule above; expected another key, or no reserve there',
      ],
    ],
    [
      'a misspelled charge',
      [inWeir({ charge: 'all' }, { rateLimit })],
      ['error d: descriptors[0].metadata.weir.charge: charge "all" is not one of together, apart'],
    ],
    [
      'two that say charge differently, and one like the first',
      [
        inWeir({ charge: 'together' }, { rateLimit }),
        inWeir({ charge: 'together' }, { rateLimit, value: 'a' }),
        { key: 'b', rateLimit, descriptors: [inWeir({ charge: 'apart' }, { rateLimit })] },
      ],
      [
        'error d: descriptors[2].descriptors[0].metadata.weir.charge: charge differs from that at descriptors[0].metadata.weir.charge; expected the same throughout the domain',
      ],
    ],
  ])('has the mistake of %s at its path', (_, descriptors, expected) => {
    expect(problemsOf([{ domain: 'd', descriptors }])).toEqual(expected);
  });

  it('needs a limit in the message too', () => {
    const weir = struct({ rate_limit: struct({ algorithm: { stringValue: 'gcra' } }) });
    const descriptor = { key: 'user', metadata: { fields: { weir } } };
    expect(problemsOf([{ domain: 'shop', descriptors: [descriptor] }])).toEqual([
      expect.stringContaining('unit is missing'),
    ]);
  });
});
