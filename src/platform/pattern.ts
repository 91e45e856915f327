import { RE2JS } from 're2js';

/**
 * Finds a pattern in a text: `[whole, $1, $2, …]`, with an empty string for a group that did not take part; undefined where the
 * pattern is not found. Takes time in proportion to the length of the text, for any pattern.
 */
export type Pattern = (text: string) => readonly string[] | undefined;

/** Compiles a pattern in the syntax of Go's regexp package (RE2). Throws an Error that describes its mistake. */
export function compilePattern(source: string, isCaseless = false): Pattern {
  const pattern = RE2JS.compile(source, isCaseless ? RE2JS.CASE_INSENSITIVE : 0);
  return (text) => {
    const matcher = pattern.matcher(text);
    if (!matcher.find()) return undefined;
    return Array.from({ length: matcher.groupCount() + 1 }, (_, at) => matcher.group(at) ?? '');
  };
}
