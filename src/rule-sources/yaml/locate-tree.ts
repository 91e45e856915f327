import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Alias,
  type ParsedNode,
  type YAMLMap,
  LineCounter,
} from 'yaml';
import {
  quote,
  type Located,
  type LocatedMap,
  type LocatedPair,
  type LocatedScalar,
  describe,
} from '../../fields/located';
import type { Place } from '../../fields/problem';
import type { Report } from '../../fields/report';

/** Maximal number of nodes after expanding the aliases of one file, so that ten lines cannot mean a billion rules. */
export const MAX_ALIASED_NODES = 1_000_000;

interface Anchor {
  /** Undefined while the node is still being read: an alias to it would be a cycle. */
  located: Located | undefined;
  /** Number of nodes after expanding its aliases. */
  size: number;
}

interface Walk {
  readonly placeOf: PlaceOf;
  readonly report: Report;
  readonly anchors: Map<string, Anchor>;
  nodes: number;
  aliasedNodes: number;
}

type Node = ParsedNode | null | undefined;

/**
 * The located tree of a document: aliases resolved (and shared), merge keys applied. Undefined, and reported, when its aliases
 * expand too far.
 */
export function locateTree(root: Node, placeOf: PlaceOf, report: Report): Located | undefined {
  const walk = { placeOf, report, anchors: new Map(), nodes: 0, aliasedNodes: 0 };
  const located = locate(root, placeOf(0), walk);
  return isTooMuch(walk) ? undefined : located;
}

function locate(node: Node, fallback: Place, walk: Walk): Located {
  walk.nodes += 1;
  if (node === null || node === undefined) return nothing(fallback);
  const at = walk.placeOf(node.range[0]);
  if (isAlias(node)) return locateAlias(node, at, walk);
  checkTag(node.tag, at, walk.report);
  if (node.anchor === undefined) return locateContent(node, at, walk);
  const anchor: Anchor = { located: undefined, size: walk.nodes };
  walk.anchors.set(node.anchor, anchor);
  anchor.located = locateContent(node, at, walk);
  anchor.size = walk.nodes - anchor.size + 1;
  return anchor.located;
}

function locateContent(node: Exclude<ParsedNode, Alias.Parsed>, at: Place, walk: Walk): Located {
  if (isMap(node)) return locateMap(node, at, walk);
  if (isSeq(node)) {
    const items = node.items.map((item) => locate(item, at, walk));
    return { kind: 'list', items, at };
  }
  const text = node.source;
  if (isScalar(node) && node.type === 'QUOTE_DOUBLE' && LONE_SURROGATE.test(text)) {
    const message = 'not valid YAML: an escape in this string is not a Unicode character';
    walk.report.error(at, 'yaml-syntax', message);
  }
  const quoted = (node.type !== 'PLAIN' || isTextTag(node.tag)) && !isTypeTag(node.tag);
  return { kind: 'scalar', text, quoted, at };
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function locateMap(node: YAMLMap.Parsed, at: Place, walk: Walk): LocatedMap {
  const pairs: LocatedPair[] = [];
  const merged: Located[] = [];
  for (const pair of node.items) {
    const key = locate(pair.key, at, walk);
    const value = locate(pair.value, key.at, walk);
    if (isMergeKey(key)) merged.push(value);
    else pairs.push({ key, value });
  }
  if (merged.length > 0 && !isTooMuch(walk)) mergeInto(pairs, merged, walk.report);
  return { kind: 'map', pairs, at };
}

/** The target of an alias, at the place of the alias. */
function locateAlias({ source }: Alias.Parsed, at: Place, walk: Walk): Located {
  const anchor = walk.anchors.get(source);
  if (anchor?.located === undefined) {
    const reason =
      anchor === undefined
        ? `no such anchor is defined above it; a string that begins with * needs quotes, ${quote(`*${source}`)}`
        : 'it refers to a node that contains it';
    walk.report.error(at, 'bad-alias', `alias ${quote(source)} cannot be resolved: ${reason}`);
    return nothing(at);
  }
  if (isTooMuch(walk)) return nothing(at);
  walk.nodes += anchor.size;
  walk.aliasedNodes += anchor.size;
  if (isTooMuch(walk)) {
    const limit = String(MAX_ALIASED_NODES);
    const message = `the aliases of this file expand to more than ${limit} nodes from here on`;
    walk.report.error(at, 'too-many-aliases', message);
  }
  return { ...anchor.located, at };
}

function isTooMuch({ aliasedNodes }: Walk): boolean {
  return aliasedNodes > MAX_ALIASED_NODES;
}

function nothing(at: Place): LocatedScalar {
  return { kind: 'scalar', text: '', quoted: false, at };
}

function checkTag(tag: string | undefined, at: Place, report: Report): void {
  if (tag === undefined || isTextTag(tag) || isTypeTag(tag)) return;
  const message = `the tag ${quote(tag)} has no meaning here; it is ignored`;
  report.warning(at, 'unknown-tag', message);
}

const STANDARD = 'tag:yaml.org,2002:';
const TYPES = new Set(
  ['int', 'float', 'bool', 'null', 'map', 'seq', 'merge'].map((name) => STANDARD + name),
);

/** Whether the tag makes an unquoted scalar a string: `!!str 010`, `! 010`. */
function isTextTag(tag: string | undefined): boolean {
  return tag === `${STANDARD}str` || tag === '!';
}

/** Whether the tag names the type that an unquoted scalar or a collection has anyway: `!!int "5"`. */
function isTypeTag(tag: string | undefined): boolean {
  return tag !== undefined && TYPES.has(tag);
}

/** Whether a key is the merge key `<<` of YAML 1.1. */
function isMergeKey(key: Located): boolean {
  return key.kind === 'scalar' && key.text === '<<' && !key.quoted;
}

/**
 * Adds the pairs of merged maps (https://yaml.org/type/merge.html): the map's own pairs win, wherever `<<` is; in a list the
 * earlier map wins, of several `<<` the last.
 */
function mergeInto(pairs: LocatedPair[], merged: readonly Located[], report: Report): void {
  const taken = new Set(pairs.flatMap(({ key }) => (key.kind === 'scalar' ? [key.text] : [])));
  for (const source of merged.toReversed().flatMap((value) => mapsOf(value, report))) {
    for (const pair of source.pairs) {
      if (pair.key.kind === 'scalar' && taken.has(pair.key.text)) continue;
      pairs.push(pair);
    }
    for (const { key } of source.pairs) if (key.kind === 'scalar') taken.add(key.text);
  }
}

function mapsOf(value: Located, report: Report): LocatedMap[] {
  if (value.kind === 'map') return [value];
  const candidates = value.kind === 'list' ? value.items : [value];
  return candidates.flatMap((candidate) => {
    if (candidate.kind === 'map') return [candidate];
    const message = `<< must be a map, an alias of one, or a list of these; found ${describe(candidate)}`;
    report.error(candidate.at, 'bad-merge', message);
    return [];
  });
}

/** Turns offsets of a text into lines and columns. */
export type PlaceOf = (offset: number) => Place;

export function createPlaceOf(text: string): PlaceOf {
  const counter = new LineCounter();
  counter.addNewLine(0);
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) {
    counter.addNewLine(end + 1);
  }
  return (offset) => {
    const { line, col } = counter.linePos(Math.max(0, offset));
    return { line, column: col };
  };
}
