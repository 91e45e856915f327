import { octetAt } from '../octets';
import { NOT_SKIMMED } from './huffman-skim';
import { HUFFMAN_NODES, stepOver, type HuffmanNode } from './huffman-tree';

/** A state is the place of its node; this is the one behind what is not known, and nothing leads away from it. */
const UNKNOWN = HUFFMAN_NODES.length;
/** `state after << 8 | symbols that ended` by `state << 8 | octet`. */
const STEPS = new Uint16Array((UNKNOWN + 1) << 8).fill(UNKNOWN << 8);
/** What ended there, by the same index: `second symbol << 8 | first`. */
const ENDED = new Uint16Array(STEPS.length);
const IS_PADDING = Uint8Array.from([...HUFFMAN_NODES.map(({ isPadding }) => Number(isPadding)), 0]);
const STATES = new Map<HuffmanNode | undefined, number>(HUFFMAN_NODES.map((node, i) => [node, i]));

HUFFMAN_NODES.forEach((node, state) => {
  for (let octet = 0; octet < 256; octet++) {
    const { to, ended } = stepOver(node, octet);
    const [first = 0, second = 0] = ended;
    STEPS[(state << 8) | octet] = ((STATES.get(to) ?? UNKNOWN) << 8) | ended.length;
    ENDED[(state << 8) | octet] = (second << 8) | first;
  }
});

/**
 * What `skimHuffman` returns, with the octets, which go to `out` from 0 on; it must have room for 8/5 of the input and two
 * more.
 */
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
    const step = STEPS[place] ?? 0;
    const ended = ENDED[place] ?? 0;
    out[length] = ended;
    out[length + 1] = ended >> 8;
    state = step & 0xff00;
    length += step & 0xff;
  }
  return IS_PADDING[state >> 8] === 1 ? length : NOT_SKIMMED;
}
