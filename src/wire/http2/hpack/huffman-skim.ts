import { octetAt } from '../octets';
import { HUFFMAN_CODES } from './huffman-codes';

/** What `skimHuffman` returns for a string that it leaves to `decodeHuffman`, be it valid or not. */
export const NOT_SKIMMED = -1;

/** Codes up to here are known: nearly all that headers hold, and no control character. */
const LONGEST_KNOWN = 8;
/** Not known either, so that what is skimmed neither begins nor ends with it (RFC 9113 §8.2.1). */
const BLANK = 0x20;

/** A node of the tree of known codes: what an octet may leave of a code that goes on in the next one. */
interface Node {
  readonly id: number;
  /** Whether a string may end here: fewer than eight bits, all of them ones (RFC 7541 §5.2). */
  readonly isPadding: boolean;
  /** What a bit leads to: the root when it ends a code, nothing where no known code goes on. */
  readonly next: (Node | undefined)[];
  /** By bit: the symbol whose code it ends. */
  readonly symbols: number[];
}

const ROOT: Node = { id: 0, isPadding: true, next: [], symbols: [] };
const NODES = growTree();
/** The state behind what is not known. Nothing leads away from it. */
const UNKNOWN = NODES.length;
/** `state after << 8` by `state << 8 | octet`; a state is the id of a node. */
const NEXT_STATE = new Uint16Array((UNKNOWN + 1) << 8).fill(UNKNOWN << 8);
/** How many symbols ended there, by the same index. */
const ENDED_COUNT = new Uint8Array(NEXT_STATE.length);
/** What ended there: `second symbol << 8 | first`. */
const ENDED = new Uint16Array(NEXT_STATE.length);
const IS_PADDING = Uint8Array.from([...NODES.map(({ isPadding }) => Number(isPadding)), 0]);

for (const node of NODES) {
  for (let octet = 0; octet < 256; octet++) addStep(node, octet);
}

/**
 * How many octets the Huffman coded `bytes[start, end)` has, without making them; it may stand as a field's value then.
 * One look at a table per octet, and no branch that depends on it. NOT_SKIMMED when it holds a blank or a rare character.
 */
export function skimHuffman(bytes: Uint8Array, start: number, end: number): number {
  let state = 0;
  let length = 0;
  for (let at = start; at < end; at++) {
    const place = state | octetAt(bytes, at);
    state = NEXT_STATE[place] ?? 0;
    length += ENDED_COUNT[place] ?? 0;
  }
  return IS_PADDING[state >> 8] === 1 ? length : NOT_SKIMMED;
}

/** The same with the octets, which go to `out` from 0 on; it must have room for 8/5 of the input and two more. */
export function unpackHuffman(
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
): number {
  let state = 0;
  let length = 0;
  for (let at = start; at < end; at++) {
    const place = state | octetAt(bytes, at);
    const ended = ENDED[place] ?? 0;
    out[length] = ended;
    out[length + 1] = ended >> 8;
    state = NEXT_STATE[place] ?? 0;
    length += ENDED_COUNT[place] ?? 0;
  }
  return IS_PADDING[state >> 8] === 1 ? length : NOT_SKIMMED;
}

function growTree(): readonly Node[] {
  const nodes = [ROOT];
  const addNode = (isPadding: boolean): Node => {
    const node = { id: nodes.length, isPadding, next: [], symbols: [] };
    nodes.push(node);
    return node;
  };
  /** The node before the last bit of a code. */
  const reach = (code: number, bits: number): Node => {
    let node = ROOT;
    for (let read = 1; read < bits; read++) {
      const prefix = code >> (bits - read);
      node = node.next[prefix & 1] ??= addNode(prefix === (1 << read) - 1);
    }
    return node;
  };
  for (const { symbol, code, bits } of HUFFMAN_CODES) {
    if (bits > LONGEST_KNOWN || symbol === BLANK) continue;
    const node = reach(code, bits);
    node.next[code & 1] = ROOT;
    node.symbols[code & 1] = symbol;
  }
  reach(0xff, 8);
  return nodes;
}

function addStep(from: Node, octet: number): void {
  let node: Node | undefined = from;
  const ended: number[] = [];
  for (let shift = 7; shift >= 0; shift--) {
    const bit = (octet >> shift) & 1;
    const symbol = node?.symbols[bit];
    if (symbol !== undefined) ended.push(symbol);
    node = node?.next[bit];
  }
  const place = (from.id << 8) | octet;
  const [first = 0, second = 0] = ended;
  NEXT_STATE[place] = (node?.id ?? UNKNOWN) << 8;
  ENDED_COUNT[place] = ended.length;
  ENDED[place] = (second << 8) | first;
}
