/** V8 itself copies shorter parts of a string. */
const MIN_VIEW_LENGTH = 13;

/**
 * The same string in memory of its own. V8 makes `slice` a view of the whole string and `+` a pair of references, so whatever
 * outlives a request must be copied, or it keeps the request's bytes alive.
 */
export function copyOf(text: string): string {
  if (text.length < MIN_VIEW_LENGTH) return text;
  // UTF-16 preserves lone surrogates; V8 still stores one byte per character where that suffices.
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
