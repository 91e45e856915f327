import { findNode } from '../../core/rules/match';
import type { KeyRules, RuleLevel, RuleLimit, RuleNode, Rules } from '../../core/rules/rules';
import type { Unit } from '../../core/units';

/** What the name of a counter says about it. */
export interface CounterPath {
  readonly domain: string;
  /** Keys and values; undefined when no rule tells where one ends and the next begins. */
  readonly entries: readonly (readonly [key: string, value: string])[] | undefined;
  /** The rule that it belongs to; undefined when the limit came in the request. */
  readonly limit: RuleLimit | undefined;
  /** The name behind the domain. */
  readonly rest: string;
}

/** A name with many `_` can be read in many ways: after so many tries it stays unread. */
const MAX_STEPS = 2_000;

type Entries = readonly (readonly [string, string])[];

/**
 * Reads `<domain>_<key>_<value>_…_`, the name of a counter, along the rules. Where two readings fit
 * the counters themselves are one, so the first is right enough.
 */
export function findRule(rules: Rules, name: string, wanted: Wanted): CounterPath | undefined {
  let unread: CounterPath | undefined;
  for (const domainEnd of separators(name, 0)) {
    const domain = name.slice(0, domainEnd);
    const found = rules.domains.get(domain);
    if (found === undefined) continue;
    const rest = name.slice(domainEnd + 1);
    const read = readEntries(found.top, rest, [], wanted, { left: MAX_STEPS });
    if (read !== undefined) return { domain, ...read, rest: rest.slice(0, -1) };
    unread = { domain, entries: undefined, limit: undefined, rest: rest.slice(0, -1) };
  }
  return unread;
}

/** What the counter was told of its limit. */
interface Wanted {
  readonly limit: number;
  readonly unit: Unit;
}

interface Steps {
  left: number;
}

interface Reading {
  readonly entry: readonly [key: string, value: string];
  readonly node: RuleNode;
  /** What comes behind the entry. */
  readonly rest: string;
}

interface Read {
  readonly entries: Entries;
  readonly limit: RuleLimit;
}

function readEntries(
  level: RuleLevel,
  text: string,
  before: Entries,
  wanted: Wanted,
  steps: Steps,
): Read | undefined {
  for (const { entry, node, rest } of readings(level, text, steps)) {
    const entries = [...before, entry];
    const read =
      rest === '' ? lastOf(node, entries, wanted) : deeper(node, rest, entries, wanted, steps);
    if (read !== undefined) return read;
  }
  return undefined;
}

/** Every way to read the first entry of a text that the level allows. */
function* readings(level: RuleLevel, text: string, steps: Steps): Generator<Reading, void> {
  for (const keyEnd of separators(text, 0)) {
    const key = text.slice(0, keyEnd);
    if (!hasKey(level, key)) continue;
    for (const valueEnd of separators(text, keyEnd + 1)) {
      if ((steps.left -= 1) < 0) return;
      const value = text.slice(keyEnd + 1, valueEnd);
      const node = findNode(level, key, value);
      if (node !== undefined) yield { entry: [key, value], node, rest: text.slice(valueEnd + 1) };
    }
  }
}

function lastOf({ limit }: RuleNode, entries: Entries, wanted: Wanted): Read | undefined {
  return limit !== undefined && isWanted(limit, wanted) ? { entries, limit } : undefined;
}

function deeper(
  { children }: RuleNode,
  rest: string,
  entries: Entries,
  wanted: Wanted,
  steps: Steps,
): Read | undefined {
  return children && readEntries(children, rest, entries, wanted, steps);
}

function isWanted(limit: RuleLimit, wanted: Wanted): boolean {
  return limit.requestsPerUnit === wanted.limit && limit.unit === wanted.unit;
}

function hasKey(level: RuleLevel, key: string): boolean {
  return level instanceof Map
    ? (level as ReadonlyMap<string, KeyRules>).has(key)
    : level.key === key;
}

/** The places of `_` from a place on. */
function* separators(text: string, from: number): Generator<number, void> {
  for (let at = text.indexOf('_', from); at >= 0; at = text.indexOf('_', at + 1)) yield at;
}
