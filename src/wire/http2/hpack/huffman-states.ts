import { byteAt } from '../../bytes';
import { HUFFMAN_CODES } from './huffman-codes';

/*
 * State machines that read one byte of Huffman code at a time, for the codes that headers consist of. They leave strings with
 * other codes to `decodeHuffman`.
 */

/** Codes up to this length are known: nearly all header text, and no control character. */
const MAX_KNOWN_BITS = 8;
/** Left out too, so that decoded strings neither begin nor end with it (RFC 9113 §8.2.1). */
const BLANK = 0x20;

/** A node of the tree of known codes: the part of a code that one byte may leave to the next. */
interface HuffmanNode {
  /** Whether a string may end here: fewer than eight bits, all of them ones (RFC 7541 §5.2). */
  readonly isPadding: boolean;
  /** The node after a bit: the root if it ends a code, undefined where no known code continues. */
  readonly next: (HuffmanNode | undefined)[];
  /** By bit, the symbol whose code it ends. */
  readonly symbols: number[];
}

const ROOT: HuffmanNode = { isPadding: true, next: [], symbols: [] };
/** All nodes, the root first. */
const NODES: readonly HuffmanNode[] = growTree();

/** Returned by the functions below for a string that they leave to `decodeHuffman`, valid or not. */
export const NOT_COMMON = -1;

/**
 * Measuring only counts symbols, so that nodes of equal shape share a state: 21 instead of 76, whose tables fit into the
 * processor's nearest cache beside everything else. The root's state is 0.
 */
const SHAPES: string[] = [];
const SHAPE_STATES = new Map<HuffmanNode | undefined, number>();
for (const node of [...NODES, undefined]) {
  const shape = shapeOf(node);
  if (!SHAPES.includes(shape)) SHAPES.push(shape);
  SHAPE_STATES.set(node, SHAPES.indexOf(shape));
}
/** `next state << 8` by `state << 8 | byte`. No transition leaves the state of unknown codes. */
const NEXT_SHAPE = new Uint16Array(SHAPES.length << 8).fill(shapeState(undefined) << 8);
/** Number of symbols that end there, by the same index; a table of its own, so that the next state waits for nothing else. */
const ENDED_COUNT = new Uint8Array(NEXT_SHAPE.length);
const SHAPE_IS_PADDING = new Uint8Array(SHAPES.length);

/** Decoding has a state per node, and one for unknown codes. */
const UNKNOWN = NODES.length;
const NODE_STATES = new Map<HuffmanNode | undefined, number>(NODES.map((node, i) => [node, i]));
/** `next state << 8 | symbols that ended` by `state << 8 | byte`. */
const STEPS = new Uint16Array((UNKNOWN + 1) << 8).fill(UNKNOWN << 8);
/** The symbols that ended, by the same index: `second symbol << 8 | first`. */
const ENDED = new Uint16Array(STEPS.length);
const NODE_IS_PADDING = new Uint8Array(UNKNOWN + 1);

NODES.forEach((node, state) => {
  const shape = shapeState(node);
  NODE_IS_PADDING[state] = SHAPE_IS_PADDING[shape] = Number(node.isPadding);
  for (let byte = 0; byte < 256; byte++) {
    const { to, ended } = stepOver(node, byte);
    const [first = 0, second = 0] = ended;
    NEXT_SHAPE[(shape << 8) | byte] = shapeState(to) << 8;
    ENDED_COUNT[(shape << 8) | byte] = ended.length;
    STEPS[(state << 8) | byte] = ((NODE_STATES.get(to) ?? UNKNOWN) << 8) | ended.length;
    ENDED[(state << 8) | byte] = (second << 8) | first;
  }
});

/**
 * The length of the string that `bytes[start, end)` codes, without decoding it; it is then valid as a field's value. One table
 * access per byte, and no branch that depends on it. NOT_COMMON if it holds a blank or a rare character.
 */
export function measureHuffman(bytes: Uint8Array, start: number, end: number): number {
  let state = 0;
  let length = 0;
  for (let at = start; at < end; at++) {
    const index = state | byteAt(bytes, at);
    state = NEXT_SHAPE[index] ?? 0;
    length += ENDED_COUNT[index] ?? 0;
  }
  return SHAPE_IS_PADDING[state >> 8] === 1 ? length : NOT_COMMON;
}

/** As `measureHuffman`, and decodes into `out` from 0 on, which needs room for 8/5 of the input and two more bytes. */
export function decodeCommonHuffman(
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
): number {
  let state = 0;
  let length = 0;
  for (let at = start; at < end; at++) {
    const index = state | byteAt(bytes, at);
    const step = STEPS[index] ?? 0;
    const ended = ENDED[index] ?? 0;
    out[length] = ended;
    out[length + 1] = ended >> 8;
    state = step & 0xff00;
    length += step & 0xff;
  }
  return NODE_IS_PADDING[state >> 8] === 1 ? length : NOT_COMMON;
}

/** The lengths of the codes below a node, as a text. */
function shapeOf(node: HuffmanNode | undefined): string {
  if (node === undefined) return '-';
  if (node === ROOT) return '.';
  const { isPadding, next } = node;
  return `${isPadding ? '1' : '0'}(${shapeOf(next[0])}${shapeOf(next[1])})`;
}

function shapeState(node: HuffmanNode | undefined): number {
  return SHAPE_STATES.get(node) ?? 0;
}

function growTree(): readonly HuffmanNode[] {
  const nodes = [ROOT];
  const addNode = (isPadding: boolean): HuffmanNode => {
    const node = { isPadding, next: [], symbols: [] };
    nodes.push(node);
    return node;
  };
  /** The node before the last bit of a code. */
  const reach = (code: number, bits: number): HuffmanNode => {
    let node = ROOT;
    for (let read = 1; read < bits; read++) {
      const prefix = code >> (bits - read);
      node = node.next[prefix & 1] ??= addNode(prefix === (1 << read) - 1);
    }
    return node;
  };
  for (const { symbol, code, bits } of HUFFMAN_CODES) {
    if (bits > MAX_KNOWN_BITS || symbol === BLANK) continue;
    const node = reach(code, bits);
    node.next[code & 1] = ROOT;
    node.symbols[code & 1] = symbol;
  }
  reach(0xff, 8);
  return nodes;
}

/** The node after a byte, undefined where no known code continues, and the symbols that end in it. */
function stepOver(
  from: HuffmanNode,
  byte: number,
): { readonly to: HuffmanNode | undefined; readonly ended: readonly number[] } {
  let to: HuffmanNode | undefined = from;
  const ended: number[] = [];
  for (let shift = 7; shift >= 0; shift--) {
    const bit = (byte >> shift) & 1;
    const symbol = to?.symbols[bit];
    if (symbol !== undefined) ended.push(symbol);
    to = to?.next[bit];
  }
  return { to, ended };
}
