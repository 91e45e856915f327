import { NO_BYTES } from '../../bytes';
import type { BlockReader } from './block-reader';
import { createHeaderDraft, createListMemory } from './header-list';
import { createLiteralReader } from './literal';
import { staticTableFor } from './static-table';

/** Replaces values of a regular field that differ in every call although most mean the same to the owner. */
export interface Placeholder {
  readonly name: string;
  /** The text kept for the value `bytes[0, length)`; undefined: the value itself. Keeps no reference. */
  readonly placeholderFor: (bytes: Uint8Array, length: number) => string | undefined;
}

/**
 * Keeps no regular fields but `readNames` (undefined: all), so that fields which change in every call (`x-request-id`) cost
 * little.
 */
export function createHeaderReader(readNames?: ReadonlySet<string>, placeholder?: Placeholder) {
  return {
    /** Regular fields of other names are checked and counted, but not kept; undefined keeps all. */
    readNames,
    placeholder,
    staticTable: staticTableFor(readNames),
    literals: createLiteralReader(),
    lists: createListMemory(),
    /** The block and the list in work, one at a time. */
    block: { bytes: NO_BYTES, at: 0, end: 0, fault: undefined } as BlockReader,
    draft: createHeaderDraft(),
  };
}

/**
 * Decoding state shared by all connections of an owner (repeated literals, recent lists, scratch), so that it stays in the
 * processor's cache. They must interpret a list alike, because they share its `memo`.
 */
export type HeaderReader = ReturnType<typeof createHeaderReader>;
