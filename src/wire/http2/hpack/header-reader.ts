import type { BlockReader } from './block-reader';
import type { HeaderField } from './header-field';
import {
  createHeaderDraft,
  createListMemory,
  type HeaderDraft,
  type ListMemory,
} from './header-list';
import { createLiteralReader, type LiteralReader } from './literal';
import { staticTableFor } from './static-table';

/** For a regular field whose values differ in every call, though most of them mean the same to the owner. */
export interface StandIn {
  readonly name: string;
  /** The text that is kept for the value `octets[0, length)`; undefined: the value itself. Keeps no reference. */
  readonly textFor: (octets: Uint8Array, length: number) => string | undefined;
}

/**
 * The owner of connections as a reader of their header lists, with what all of them have met: with memories of their own
 * many connections would find nothing of it in the processor's cache. One for all connections of one owner; they must
 * make the same of a list, because its `memo` goes with it.
 */
export interface HeaderReader {
  /** Regular fields of other names are checked and counted, but not kept; undefined keeps all. */
  readonly readNames: ReadonlySet<string> | undefined;
  readonly standIn: StandIn | undefined;
  readonly staticTable: readonly HeaderField[];
  readonly literals: LiteralReader;
  readonly lists: ListMemory;
  /** The block and the list in work: there is one at a time. */
  readonly block: BlockReader;
  readonly draft: HeaderDraft;
}

/** The reader of no block. */
export const NO_OCTETS = new Uint8Array(0);

/**
 * Other regular fields than `readNames` are in no list: what changes in every call (`x-request-id`) then costs little.
 * Undefined: all are. For values of the field that `standIn` names it says another text.
 */
export function createHeaderReader(
  readNames?: ReadonlySet<string>,
  standIn?: StandIn,
): HeaderReader {
  return {
    readNames,
    standIn,
    staticTable: staticTableFor(readNames),
    literals: createLiteralReader(),
    lists: createListMemory(),
    block: { bytes: NO_OCTETS, at: 0, end: 0, fault: undefined },
    draft: createHeaderDraft(),
  };
}
