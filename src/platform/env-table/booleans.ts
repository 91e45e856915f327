import type { Parser } from './parser';

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

function parse(text: string): boolean | undefined {
  if (TRUE.has(text)) return true;
  return FALSE.has(text) ? false : undefined;
}

/** The twelve spellings of Go's strconv.ParseBool, and no other. */
export const boolean: Parser<boolean> = {
  expected: 'true or false (also 1, t, T, TRUE, True, 0, f, F, FALSE, False)',
  parse,
};

/** `true` or `false`, nothing else. */
export const trueOrFalse: Parser<boolean> = {
  expected: 'true or false',
  parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
};

/** `true` or `false` in any letter case, as OpenTelemetry's settings are written. */
export const booleanInAnyCase: Parser<boolean> = {
  expected: 'true or false',
  parse: (text) => trueOrFalse.parse(text.trim().toLowerCase()),
};
