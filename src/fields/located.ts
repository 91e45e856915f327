import type { Place } from './problem';

export interface LocatedScalar {
  readonly kind: 'scalar';
  readonly at: Place;
  /** The text as written; for quoted and block scalars their value. Empty where nothing is written. */
  readonly text: string;
  /** Quoted, a block scalar, or a string by its source's type: never a number, boolean or null. */
  readonly quoted: boolean;
}

export interface LocatedPair {
  readonly key: Located;
  readonly value: Located;
}

export interface LocatedMap {
  readonly kind: 'map';
  readonly at: Place;
  /** In the order of the source; a key may occur twice. */
  readonly pairs: readonly LocatedPair[];
}

interface LocatedList {
  readonly kind: 'list';
  readonly at: Place;
  readonly items: readonly Located[];
}

/** A rule source as a plain tree, not yet interpreted. Parts may be shared (YAML aliases), cycles cannot occur. */
export type Located = LocatedScalar | LocatedMap | LocatedList;

/** Maximal nesting of lists and maps, so that no file can overflow the stack. */
export const MAX_DEPTH = 256;

/** Names a node in an error message. */
export function describe(node: Located): string {
  switch (node.kind) {
    case 'map':
      return 'a map';
    case 'list':
      return 'a list';
    case 'scalar':
      if (node.text === '') return node.quoted ? 'an empty string' : 'nothing';
      return node.quoted || UNSEEN.test(node.text)
        ? `the string ${quote(node.text)}`
        : shorten(node.text);
  }
}

/** Characters that would break a line or that cannot be seen. */
const UNSEEN = /[\p{Control}\p{Format}\p{Surrogate}\p{Zl}\p{Zp}\u00a0]/u;

/** A text for an error message: quoted, on one line, without invisible characters, of bounded length. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text)).replaceAll(new RegExp(UNSEEN, 'gu'), (unseen) => {
    const code = unseen.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

const MAX_SHOWN_LENGTH = 80;

function shorten(text: string): string {
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}…`;
}
