import { parseRules } from '../../src/rule-sources/parse-rules';
import type { DecisionRequest } from '../../src/core/model';
import { compileRules } from '../../src/core/rules/compile';
import { createReplyReader } from '../../src/counters/memcached/protocol';
import { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { unpack } from '../../src/counters/redis/message-pack';
import { createChanges } from '../../src/stats/push-output';
import { dumpText } from '../../src/stats/dump';
import { createRegistry } from '../../src/stats/registry';
import { createHttp2Connection } from '../../src/wire/http2/connection';
import { createHpackDecoder, decodeBlock } from '../../src/wire/http2/hpack/decoder';
import { encodeStatelessBlock } from '../../src/wire/http2/hpack/encoder';
import { encodeRequest } from '../support/edge/grpc-client';
import { measureGrowth, MAX_PER_DOUBLING } from '../support/edge/doubling';
import { expectFigure } from '../support/edge/figure';
import { data, hello, ping, request, rst, settings, windowUpdate } from '../support/h2-frames';
import { rulesOf, SOME_MATCH } from '../support/rules';
import { decideAll, decideBytes, decideJson, type Way } from './decide-request';
import { plain } from '../support/limiters';

/**
 * Doubles each dimension of what others send, far beyond the bounds: a bound that somebody raises must not turn a cost
 * that nobody looked at into an outage.
 */
interface Dimension<T> {
  /** A size at which the work takes some milliseconds. */
  readonly size: number;
  readonly make: (size: number) => T;
  readonly run: (input: T) => unknown;
}

const of = <T>(size: number, make: (at: number) => T): T[] =>
  Array.from({ length: size }, (_, at) => make(at));
const named = <T>(
  name: string,
  size: number,
  make: (size: number) => T,
  run: (input: T) => unknown,
): readonly [string, Dimension<unknown>] => [name, { size, make, run } as Dimension<unknown>];

const RULES = rulesOf('d', [
  { key: 'k', limit: [10, 'HOUR'] },
  { key: 'path', value: '/files/*/x*y', limit: [5, 'SECOND'] },
  { key: 'deep', rules: [{ key: 'k', limit: [5, 'SECOND'] }] },
]);
const entry = (key: string, value = '') => ({ entries: [{ key, value }] });
const message = (descriptors: readonly object[], domain = 'd') =>
  encodeRequest({ domain, descriptors });
const json = (descriptors: readonly object[], domain = 'd', hitsAddend: number | string = 1) =>
  JSON.stringify({ domain, descriptors, hitsAddend });
const overGrpc = (way?: Way) => (bytes: Uint8Array) => decideBytes(RULES, bytes, way);
const overHttp = (text: string) => decideJson(RULES, text);
const distinct = (size: number) => of(size, (at) => entry('k', String(at)));

describe('a request', () => {
  it.each([
    named('descriptors', 5_000, (n) => message(distinct(n)), overGrpc()),
    named('equal descriptors', 5_000, (n) => message(of(n, () => entry('k', 'v'))), overGrpc()),
    named('descriptors held back', 5_000, (n) => message(distinct(n)), overGrpc({ holdBack: true })),
    named('descriptors read first', 5_000, (n) => message(distinct(n)), overGrpc({ readFirst: true })),
    named('descriptors without a domain', 20_000, (n) => message(of(n, () => ({})), 'x'), overGrpc()),
    named('descriptors and the bytes of an unknown domain', 400, unknown, overGrpc()),
    named('entries', 20_000, (n) => message([{ entries: of(n, keyOf) }]), overGrpc()),
    named('bytes of a domain', 500_000, (n) => message([entry('k')], '1.1.1.1 '.repeat(n / 8)), overGrpc()),
    named('bytes of a key', 500_000, (n) => message([entry('k_'.repeat(n / 2))]), overGrpc()),
    named('bytes of a value', 1_000_000, (n) => message([entry('k', '_1'.repeat(n / 2))]), overGrpc()),
    named('bytes of a value with stars', 1_000_000, (n) => message([entry('path', `/files/${'/x'.repeat(n / 2)}`)]), overGrpc()),
  ])('costs at most so much more for twice the %s over gRPC', expectLinear); // prettier-ignore

  it.each([
    named('descriptors', 3_000, (n) => json(distinct(n)), overHttp),
    named('descriptors and the bytes of an unknown domain', 400, (n) => json(of(n, () => ({})), ':1.1.1.1 '.repeat(n)), overHttp),
    named('entries', 10_000, (n) => json([{ entries: of(n, keyOf) }]), overHttp),
    named('bytes of a value', 500_000, (n) => json([entry('k', 'x'.repeat(n))]), overHttp),
    named('escapes', 50_000, (n) => json([entry('k', 'v')]).replace('"v"', `"${'\\u0041'.repeat(n)}"`), overHttp),
    named('blanks', 500_000, (n) => json([entry('k')]) + ' '.repeat(n), overHttp),
    named('zeros of a number', 100_000, (n) => json([entry('k')], 'd', 7).replace(':7', `:7.${'0'.repeat(n)}`), overHttp),
  ])('costs at most so much more for twice the %s on /json', expectLinear); // prettier-ignore

  it.each([
    named('requests of a batch', 3_000, (n) => of(n, oneOf), (all) => decideAll(RULES, all)),
    named('requests read first', 3_000, (n) => of(n, oneOf), (all) => decideAll(RULES, all, { readFirst: true })),
    named('requests held back', 3_000, (n) => of(n, oneOf), (all) => decideAll(RULES, all, { holdBack: true })),
  ])('costs at most so much more for twice the %s', expectLinear); // prettier-ignore
});

function unknown(size: number): Uint8Array {
  return message(
    of(size, () => ({})),
    ':1.1.1.1 '.repeat(size),
  );
}

const keyOf = (at: number) => ({ key: `key-${String(at)}`, value: 'v' });

function oneOf(at: number): DecisionRequest {
  const one = { limit: undefined, hits: undefined, isNegativeHits: false };
  const descriptors = ['a', 'b'].map((name) => ({ ...one, ...entry('k', `${name}${String(at)}`) }));
  return { domain: 'd', descriptors, hitsAddend: 1 };
}

const POST = (at: number) => request(1 + 2 * at, 0);
const flapping = (at: number): [number, number] => [4, 65_535 + (at & 1)];

/** Plays frames to a connection that answers nothing; budgets come back with the time. */
function play(frames: readonly Uint8Array[]): void {
  const connection = createHttp2Connection({
    onRequest: () => undefined,
    onData: () => undefined,
    onTrailers: () => undefined,
    onReset: () => undefined,
  });
  let nowMs = 0;
  for (const frame of frames) {
    connection.receive(frame, (nowMs += 1_000));
    for (let out = connection.takeOutput(); out !== undefined; out = connection.takeOutput())
      connection.releaseOutput(out);
  }
  const { failure } = connection;
  if (failure !== undefined) throw new Error(JSON.stringify(failure));
}

describe('a connection', () => {
  it.each([
    named('PINGs', 20_000, (n) => [hello(), ...of(n, () => ping())], play),
    named('streams that are reset', 5_000, (n) => [hello(), ...of(n, (at) => Buffer.concat([POST(at), rst(1 + 2 * at)]))], play),
    named('open streams', 1_000, (n) => [hello(), ...of(n, POST)], play),
    named('WINDOW_UPDATEs of a stream', 20_000, (n) => [hello(), POST(0), ...of(n, () => windowUpdate(1, 1))], play),
    named('DATA frames', 20_000, (n) => [hello(), POST(0), ...of(n, () => data(1, 'x'))], play),
    named('settings of a frame', 400, (n) => [hello(), ...of(500, POST), settings(...of(n, flapping))], play),
    named('settings of a frame, and streams', 250, (n) => [hello(), ...of(n, POST), settings(...of(n, flapping))], play),
  ])('costs at most so much more for twice the %s', expectLinear); // prettier-ignore

  it.each([
    named('new fields', 5_000, (n) => encodeStatelessBlock(of(n, (at) => [`x-${String(at)}`, 'v'])), hpack),
    named('fields that it knows', 1_000, (n) => encodeStatelessBlock(of(n, () => [':path', '/'])), hpack),
    named('fields for the dynamic table', 5_000, (n) => Buffer.concat(of(n, (at) => literal(`x-${String(at)}`))), hpack),
    named('letters in Huffman code', 25_000, (n) => encodeStatelessBlock([['x', 'e'.repeat(n)]]), hpack),
    named('rare octets in Huffman code', 50_000, (n) => huffman(n), hpack),
    named('size updates', 50_000, (n) => Buffer.concat([Buffer.alloc(n, 0x20), Buffer.from([0x82])]), hpack),
  ])('costs at most so much more for twice the %s of a header block', expectLinear); // prettier-ignore
});

function hpack(block: Uint8Array): void {
  decodeBlock(createHpackDecoder(100_000_000, true), block, 0, block.length);
}

function literal(name: string): Buffer {
  return Buffer.concat([
    Buffer.from([0x40, name.length]),
    Buffer.from(name),
    Buffer.from([1, 0x76]),
  ]);
}

/** A value of `0x0a` octets, whose code (30 bits) is the longest there is. */
function huffman(size: number): Buffer {
  const bits = '111111111111111111111111111100'.repeat(size - (size % 4));
  const coded = Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => parseInt(eight, 2)));
  const length: number[] = [];
  let rest = coded.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128);
  return Buffer.concat([Buffer.from([0, 1, 0x78, 0xff, ...length, rest]), coded]);
}

const rule = (at: number, value = String(at)) =>
  `  - {key: k, value: "${value}", rate_limit: {unit: day, requests_per_unit: 10}}\n`;
const file = (rules: readonly string[]) => `domain: d\ndescriptors:\n${rules.join('')}`;

function load(text: string) {
  const parsed = parseRules([{ file: 'a.yaml', bytes: Buffer.from(text) }], {
    mergeDomains: false,
  });
  return compileRules(parsed.domains);
}

const asking = (value: string) => [{ ...oneOf(0), descriptors: [{ ...oneOf(0).descriptors[0], ...entry('k', value) }] }] as DecisionRequest[]; // prettier-ignore

describe('a set of rules', () => {
  it.each([
    named('rules', 400, (n) => file(of(n, (at) => rule(at))), load),
    named('wildcards', 400, (n) => file(of(n, (at) => rule(at, `/p${String(at)}/*`))), load),
    named('wildcards of one prefix, asked once', 2_000, (n) => load(file(of(n, (at) => rule(at, `/p*x${String(at)}y*z`)))), (rules) => decideAll(rules, asking(`/p${'x'.repeat(50)}z`))),
    named('stars of a value', 2_000, (n) => load(file([rule(0, `${'*a'.repeat(n)}*b`)])), (rules) => decideAll(rules, asking('a'.repeat(500_000)))),
  ])('costs at most so much more for twice the %s', expectLinear); // prettier-ignore
});

describe('the statistics', () => {
  const registryOf = (names: readonly string[]) => {
    const registry = createRegistry();
    for (const name of names) registry.unknownDomains.of(name).add(1);
    return registry;
  };
  const registryOfMany = (size: number) => registryOf(of(size, (at) => `domain-${String(at)}`));
  it.each([
    named('names that are new', 3_000, (n) => of(n, (at) => `domain-${String(at)}`), registryOf),
    named('names that are unclean', 700, (n) => of(n, (at) => `a:${String(at)}`), registryOf),
    named('bytes of unclean names', 500, (n) => of(20, (at) => `${String(at)}${':1.1.1.1'.repeat(n)}`), registryOf),
    named('names of a flush', 20_000, registryOfMany, (registry) => [...createChanges(registry).read()]),
    named('names of a page', 20_000, registryOfMany, (registry) => [...dumpText(registry)]),
  ])('cost at most so much more for twice the %s', expectLinear); // prettier-ignore
});

describe('a store', () => {
  it.each([
    named('counters in memory', 5_000, (n) => of(n, incrementOf), inMemory),
    named('counts of a script', 50_000, (n) => Buffer.concat([Buffer.from([0xdd, n >>> 24, n >>> 16, n >>> 8, n]), Buffer.alloc(n, 7)]), unpack),
    named('values of memcached', 5_000, (n) => Buffer.from(`${of(n, (at) => `VALUE k${String(at)} 0 1\r\n1\r\n`).join('')}END\r\n`), (bytes) => { readReply([bytes]); }),
    named('bytes of a value of memcached, in pieces', 500_000, (n) => pieces(Buffer.from(`VALUE k 0 ${String(n)}\r\n${'1'.repeat(n)}\r\nEND\r\n`)), readReply),
  ])('costs at most so much more for twice the %s', expectLinear); // prettier-ignore
});

const incrementOf = (at: number) => ({
  ...SOME_MATCH,
  key: `d_k_${String(at)}_1795132800`,
  hits: 1,
  ...plain(10),
  ttlSeconds: 86_400,
  windowEndSeconds: 1_795_219_200,
});

async function inMemory(increments: ReturnType<typeof incrementOf>[]): Promise<void> {
  const counters = createMemoryCounters({ clock: () => 1_795_200_000 });
  await counters.add({ increments, groupEnds: undefined, nowSeconds: 1_795_200_000 }); // prettier-ignore
  await counters.close();
}

const pieces = (bytes: Buffer) =>
  of(Math.ceil(bytes.length / 1_460), (at) => bytes.subarray(at * 1_460, (at + 1) * 1_460));

function readReply(chunks: readonly Buffer[]): void {
  const reader = createReplyReader({ onValue: () => undefined, onLine: () => undefined });
  for (const chunk of chunks) reader.read(chunk);
}

async function expectLinear(_: string, { size, make, run }: Dimension<unknown>): Promise<void> {
  const { perDoubling: value } = await measureGrowth(make, run, size);
  expectFigure({ name: 'cost of twice as much', value, unit: 'times', below: MAX_PER_DOUBLING });
}
