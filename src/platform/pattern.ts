import { RE2JS } from 're2js';

/**
 * Finds a pattern in a text: `[whole, $1, $2, …]`, with an empty text for a group that took no part; undefined
 * where the pattern is not found. Takes time in proportion to the length of the text, whatever the pattern is.
 */
export type Pattern = (text: string) => readonly string[] | undefined;

/** Compiles a pattern in the syntax of Go's regexp package (RE2). Throws an Error that says what is wrong with it. */
export function compilePattern(source: string, isCaseless = false): Pattern {
  const pattern = RE2JS.compile(source, isCaseless ? RE2JS.CASE_INSENSITIVE : 0);
  return (text) => {
    const matcher = pattern.matcher(text);
    if (!matcher.find()) return undefined;
    return Array.from({ length: matcher.groupCount() + 1 }, (_, at) => matcher.group(at) ?? '');
  };
}
