import { HUFFMAN_CODES } from './huffman-codes';

/** Codes up to here are known: nearly all that headers hold, and no control character. */
const LONGEST_KNOWN = 8;
/** Not known either, so that what is read by known codes neither begins nor ends with it (RFC 9113 §8.2.1). */
const BLANK = 0x20;

/** A node of the tree of known codes: what an octet may leave of a code that goes on in the next one. */
export interface HuffmanNode {
  /** Whether a string may end here: fewer than eight bits, all of them ones (RFC 7541 §5.2). */
  readonly isPadding: boolean;
  /** What a bit leads to: the root when it ends a code, nothing where no known code goes on. */
  readonly next: (HuffmanNode | undefined)[];
  /** By bit: the symbol whose code it ends. */
  readonly symbols: number[];
}

export const HUFFMAN_ROOT: HuffmanNode = { isPadding: true, next: [], symbols: [] };
/** All nodes, the root first. */
export const HUFFMAN_NODES: readonly HuffmanNode[] = growTree();

function growTree(): readonly HuffmanNode[] {
  const nodes = [HUFFMAN_ROOT];
  const addNode = (isPadding: boolean): HuffmanNode => {
    const node = { isPadding, next: [], symbols: [] };
    nodes.push(node);
    return node;
  };
  /** The node before the last bit of a code. */
  const reach = (code: number, bits: number): HuffmanNode => {
    let node = HUFFMAN_ROOT;
    for (let read = 1; read < bits; read++) {
      const prefix = code >> (bits - read);
      node = node.next[prefix & 1] ??= addNode(prefix === (1 << read) - 1);
    }
    return node;
  };
  for (const { symbol, code, bits } of HUFFMAN_CODES) {
    if (bits > LONGEST_KNOWN || symbol === BLANK) continue;
    const node = reach(code, bits);
    node.next[code & 1] = HUFFMAN_ROOT;
    node.symbols[code & 1] = symbol;
  }
  reach(0xff, 8);
  return nodes;
}

/** Where an octet leads to, undefined where to no known code, and the symbols that end in it. */
export function stepOver(
  from: HuffmanNode,
  octet: number,
): { readonly to: HuffmanNode | undefined; readonly ended: readonly number[] } {
  let to: HuffmanNode | undefined = from;
  const ended: number[] = [];
  for (let shift = 7; shift >= 0; shift--) {
    const bit = (octet >> shift) & 1;
    const symbol = to?.symbols[bit];
    if (symbol !== undefined) ended.push(symbol);
    to = to?.next[bit];
  }
  return { to, ended };
}
