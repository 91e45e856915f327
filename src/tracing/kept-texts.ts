import type { CallHeaders } from '../core/ports';
import { copyOf } from '../platform/copy-of';
import { HEADER_NAMES } from './parent';

/** A domain in a span is cut here, in characters. */
export const MAX_DOMAIN = 256;
/** As is what went wrong. */
export const MAX_ERROR = 1_024;
/** Headers of a trace are a few hundred characters; above this, only what a trace needs is kept. */
const MAX_HEADERS = 2_048;
/** Twice what a W3C `tracestate` must be able to hold. */
const MAX_HEADER = 1_024;
const MAX_HEADER_FIELDS = 16;

/** A text for a span that waits: short, and in memory of its own. */
export function keptText(text: string, maxLength: number): string {
  return copyOf(text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`);
}

/** The headers of a call while its spans wait: as they are, or, where that is much, the fields of its trace without long ones. */
export function keptHeaders(headers: CallHeaders): CallHeaders {
  if (charactersOf(headers) <= MAX_HEADERS) return headers;
  const names: string[] = [];
  const values: string[] = [];
  for (let i = 0; i < headers.names.length && names.length < MAX_HEADER_FIELDS; i++) {
    const name = headers.names[i] as string;
    const value = headers.values[i] as string;
    if (!HEADER_NAMES.includes(name) || value.length > MAX_HEADER) continue;
    names.push(name);
    values.push(copyOf(value));
  }
  return { names, values };
}

/** Characters of all names and values. */
export function charactersOf({ names, values }: CallHeaders): number {
  let characters = 0;
  for (let i = 0; i < names.length; i++)
    characters += (names[i] as string).length + (values[i] as string).length;
  return characters;
}
