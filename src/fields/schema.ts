import type { Range } from './fields';

/** JSON Schema draft-07, which the YAML plug-ins of editors read. */
export type Schema = Readonly<Record<string, unknown>>;

export const ABSENT: Schema = { type: 'null' };

/** An unquoted number or boolean stays as written. */
export const TEXT: Schema = { type: ['string', 'integer', 'boolean', 'null'] };

/** YAML 1.1's words, which plug-ins that read YAML 1.2 take for texts. */
const TRUE_WORDS = ['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON'];
export const FALSE_WORDS = ['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF'];
export const FLAG: Schema = {
  anyOf: [{ type: ['boolean', 'null'] }, { enum: [...TRUE_WORDS, ...FALSE_WORDS] }],
};
export const TRUE: Schema = { enum: [true, ...TRUE_WORDS] };

/** `1_000`, `0b11` and other whole numbers of YAML 1.1, likewise. */
const WHOLE_OF_YAML_1_1 = String.raw`^[-+]?(?:0[xXbBoO]?[0-9a-fA-F_]+|[0-9]+_[0-9_]*)$`;

export function whole({ least, most }: Range): Schema {
  return {
    anyOf: [
      { type: ['integer', 'null'], minimum: least, maximum: most },
      { type: 'string', pattern: WHOLE_OF_YAML_1_1 },
    ],
  };
}

export function oneOf(words: readonly unknown[]): Schema {
  return { enum: [...words, '', null] };
}

/** Written with nothing, or not at all. */
export const NOTHING = oneOf([]);

/** An optional text of this form. */
export function textLike({ source: pattern }: RegExp): Schema {
  return { anyOf: [{ type: 'string', pattern }, NOTHING] };
}

/** These words in any case; completion offers lower case. */
export function anyCase(words: readonly string[]): Schema {
  const letters = (word: string): string =>
    word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
  return {
    anyOf: [{ enum: words }, { type: 'string', pattern: `^(?:${words.map(letters).join('|')})$` }],
  };
}
