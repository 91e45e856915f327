import { createRandom, type Random } from '../fuzz/random';
import type { Features } from './services';

/** Rules of one domain and what is asked of them, made up from a seed. */
export interface MadeUp {
  readonly seed: number;
  readonly domain: string;
  /** A rule file; JSON is YAML. */
  readonly rules: string;
  readonly requests: readonly MadeUpRequest[];
}

export interface MadeUpRequest {
  readonly domain: string;
  readonly hitsAddend: number;
  readonly descriptors: readonly MadeUpDescriptor[];
}

interface MadeUpDescriptor {
  readonly entries: readonly { readonly key: string; readonly value: string }[];
  readonly limit?: { readonly requestsPerUnit: number; readonly unit: string };
  readonly hitsAddend?: { readonly value: number };
}

interface MadeUpNode {
  readonly key: string;
  readonly value?: string;
  readonly rate_limit?: object;
  readonly descriptors?: readonly MadeUpNode[];
}

/** No key is the beginning of another one with `_`: the reference joins keys and values. */
const KEYS = ['user', 'path', 'method', 'plan', 'K', 'k.dot', 'api_key', 'remote_address'];
/** The key of unlimited rules, which count nothing in the reference. */
export const UNLIMITED_KEY = 'unlimited';
const VALUES = [
  'a',
  'ann',
  'bob',
  '/v1/x',
  '/v1/y/z',
  'premium-22',
  '10.0.0.7',
  'x_y',
  'a:b|c',
  'ünï',
];
const PATTERNS = ['*', 'a*', '/v1/*', 'premium-*', '10.*', 'x_*'];
const MIDDLE_PATTERNS = ['p*m-*', '*-22', '10.*.7', '*n*', '/v1/*/z', '**'];
/** Rules with `share_threshold` have patterns of their own, since their metrics differ on purpose. */
export const SHARED_PATTERNS = ['sh*', 'shared-*'];
export const SHARED_MIDDLE_PATTERNS = ['sh*-x', '*shared*'];
const SHARED_VALUES = ['sh', 'shop', 'shared-1', 'shared-x', 'sha-x'];
const UNITS = ['second', 'minute', 'hour', 'HOUR', 'day', 'Month', 'year'];
const REQUESTS = 8;
const POOL = 6;

export interface MakeOptions extends Features {
  /** Without a local cache: there the reference takes two limits of one counter for one. */
  readonly hasOverrides: boolean;
}

export function makeUp(seed: number, options: MakeOptions): MadeUp {
  const random = createRandom(seed);
  const domain = `s${String(seed)}`;
  const names: string[] = [];
  const tree = siblings(random, 3, names, options);
  const paths = pathsOf(tree);
  const pool = Array.from({ length: POOL }, () => descriptorOf(random, paths, options));
  const requests = Array.from({ length: REQUESTS }, () => ({
    domain: random.oneIn(40) ? `${domain}-none` : domain,
    hitsAddend: random.oneIn(3) ? random.below(6) : 0,
    descriptors: Array.from({ length: 1 + random.below(3) }, () => random.pick(pool)),
  }));
  return { seed, domain, rules: JSON.stringify({ domain, descriptors: tree }), requests };
}

/** Entries of one level, none of them twice. */
function siblings(
  random: Random,
  depth: number,
  names: string[],
  options: MakeOptions,
): readonly MadeUpNode[] {
  const found = new Map<string, MadeUpNode>();
  for (let left = 1 + random.below(4); left > 0; left -= 1) {
    const made = nodeOf(random, depth, names, options);
    found.set(`${made.key} ${made.value ?? ''}`, made);
  }
  return [...found.values()];
}

function nodeOf(random: Random, depth: number, names: string[], options: MakeOptions): MadeUpNode {
  if (random.oneIn(12))
    return { key: UNLIMITED_KEY, ...saidOf(random, options), rate_limit: { unlimited: true } };
  const isShared = random.oneIn(6);
  const value = isShared ? sharedPattern(random, options) : valueOf(random, options);
  return {
    key: random.pick(KEYS),
    ...(value !== undefined && { value }),
    ...(!random.oneIn(4) && { rate_limit: limitOf(random, names) }),
    ...flagsOf(random, options),
    ...(isShared && { share_threshold: true }),
    ...(depth > 1 && random.oneIn(2) && belowOf(random, depth - 1, names, options)),
  };
}

function belowOf(random: Random, depth: number, names: string[], options: MakeOptions) {
  return { descriptors: siblings(random, depth, names, options) };
}

/** Of an unlimited rule. */
function saidOf(random: Random, options: MakeOptions) {
  const value = valueOf(random, options);
  return { ...(value !== undefined && { value }), ...flagsOf(random, options) };
}

function flagsOf(random: Random, { quota }: MakeOptions) {
  const flag = (name: string, times: number) => (random.oneIn(times) ? { [name]: true } : {});
  return {
    ...flag('shadow_mode', 6),
    ...(quota && flag('quota_mode', 5)),
    ...flag('detailed_metric', 5),
    ...flag('value_to_metric', 4),
  };
}

function valueOf(random: Random, { middle }: MakeOptions): string | undefined {
  const kind = random.below(4);
  if (kind === 0) return undefined;
  if (kind === 1) return random.pick(middle ? [...PATTERNS, ...MIDDLE_PATTERNS] : PATTERNS);
  return random.pick(VALUES);
}

function sharedPattern(random: Random, { middle }: MakeOptions): string {
  return random.pick(middle ? [...SHARED_PATTERNS, ...SHARED_MIDDLE_PATTERNS] : SHARED_PATTERNS);
}

function limitOf(random: Random, names: string[]): object {
  const replaced = names.length > 0 && random.oneIn(4) ? random.pick(names) : undefined;
  const name = random.oneIn(3) ? `limit-${String(names.length)}` : undefined;
  if (name !== undefined) names.push(name);
  return {
    unit: random.oneIn(12) ? 'second' : random.pick(UNITS.slice(1)),
    requests_per_unit: random.oneIn(8) ? 0 : 1 + random.below(random.oneIn(4) ? 1_000 : 9),
    ...(name !== undefined && { name }),
    ...(replaced !== undefined && { replaces: [{ name: replaced }] }),
  };
}

function pathsOf(nodes: readonly MadeUpNode[]): readonly (readonly MadeUpNode[])[] {
  return nodes.flatMap((node) => [
    [node],
    ...pathsOf(node.descriptors ?? []).map((below) => [node, ...below]),
  ]);
}

function descriptorOf(
  random: Random,
  paths: readonly (readonly MadeUpNode[])[],
  { hasOverrides }: MakeOptions,
): MadeUpDescriptor {
  const path = random.pick(paths);
  const entries = path.map(({ key, value }) => ({ key, value: askedValue(random, value) }));
  if (random.oneIn(10)) entries.push({ key: random.pick(KEYS), value: random.pick(VALUES) });
  if (random.oneIn(15) && entries.length > 1) entries.pop();
  const override = {
    requestsPerUnit: random.below(8),
    unit: random.pick(['MINUTE', 'HOUR', 'DAY']),
  };
  return {
    entries,
    ...(hasOverrides && random.oneIn(12) && { limit: override }),
    ...(random.oneIn(6) && { hitsAddend: { value: random.below(5) } }),
  };
}

/** Mostly one that the rule takes. */
function askedValue(random: Random, value: string | undefined): string {
  if (random.oneIn(10)) return '';
  if (random.oneIn(12)) return random.pick([...VALUES, ...SHARED_VALUES, ...PATTERNS]);
  if (value === undefined) return random.pick([...VALUES, ...SHARED_VALUES]);
  if (random.oneIn(15)) return value;
  return value.replaceAll('*', () => random.pick(['', 'b', 'an', '7', 'x-', '/y']));
}
