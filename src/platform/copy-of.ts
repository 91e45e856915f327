/** Shorter parts of a text are copied by V8 itself. */
const MIN_VIEW_LENGTH = 13;

/**
 * The same text in memory of its own. V8 makes `slice` a view of the whole text and `+` a pair of
 * references, so whatever outlives a request must be copied, or it keeps the request's bytes alive.
 */
export function copyOf(text: string): string {
  if (text.length < MIN_VIEW_LENGTH) return text;
  // UTF-16 brings lone surrogates back unchanged; V8 still stores one byte a character where that is enough.
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
