import { octetAt } from '../octets';
import { HUFFMAN_NODES, HUFFMAN_ROOT, stepOver, type HuffmanNode } from './huffman-tree';

/** What `skimHuffman` and `unpackHuffman` return for a string that they leave to `decodeHuffman`, be it valid or not. */
export const NOT_SKIMMED = -1;

/** The states of nodes, and of where no known code goes on; that of the root is 0. */
const STATES = new Map<HuffmanNode | undefined, number>();
const SHAPES: string[] = [];
for (const node of [...HUFFMAN_NODES, undefined]) {
  const shape = shapeOf(node);
  if (!SHAPES.includes(shape)) SHAPES.push(shape);
  STATES.set(node, SHAPES.indexOf(shape));
}
/** `state after << 8` by `state << 8 | octet`. Nothing leads away from where no known code goes on. */
const NEXT_STATE = new Uint16Array(SHAPES.length << 8).fill(stateOf(undefined) << 8);
/** How many symbols ended there, by the same index; apart from the states, which then wait for nothing else. */
const ENDED_COUNT = new Uint8Array(NEXT_STATE.length);
const IS_PADDING = new Uint8Array(SHAPES.length);

for (const node of HUFFMAN_NODES) {
  const state = stateOf(node);
  IS_PADDING[state] = Number(node.isPadding);
  for (let octet = 0; octet < 256; octet++) {
    const { to, ended } = stepOver(node, octet);
    NEXT_STATE[(state << 8) | octet] = stateOf(to) << 8;
    ENDED_COUNT[(state << 8) | octet] = ended.length;
  }
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

/**
 * The lengths of what may follow a node. Nodes that look alike are one state, since symbols are only counted: 21 instead of 76,
 * so that the tables fit into the processor's nearest cache beside everything else.
 */
function shapeOf(node: HuffmanNode | undefined): string {
  if (node === undefined) return '-';
  if (node === HUFFMAN_ROOT) return '.';
  const { isPadding, next } = node;
  return `${isPadding ? '1' : '0'}(${shapeOf(next[0])}${shapeOf(next[1])})`;
}

function stateOf(node: HuffmanNode | undefined): number {
  return STATES.get(node) ?? 0;
}
