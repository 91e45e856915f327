import type { Fields, Range } from './fields';
import type { ErrorClass } from './report';
import * as schemas from './schema';

/** What a field may hold: how it is read, and how pages and editors say it. */
export interface FieldType<T> {
  /** The value; that of an absent field where it is a mistake, which is reported. */
  readonly read: (fields: Fields, name: string) => T;
  /** In tables of the docs, as Markdown. */
  readonly words: string;
  readonly schema: schemas.Schema;
}

/** False when absent. */
export const FLAG: FieldType<boolean> = {
  read: (fields, name) => fields.flag(name),
  words: 'boolean',
  schema: schemas.FLAG,
};

/** Empty when absent, undefined when it is something else. */
export const TEXT: FieldType<string | undefined> = {
  read: (fields, name) => fields.text(name),
  words: 'string',
  schema: schemas.TEXT,
};

export function whole(range: Range, mistake: ErrorClass): FieldType<number | undefined> {
  return {
    read: (fields, name) => fields.whole(name, range, mistake),
    words: `whole number, ${String(range.least)} to ${String(range.most)}`,
    schema: schemas.whole(range),
  };
}

/** One of these words. `isGuessed`: the message about another one asks for a near one. */
export function oneOf<const T extends string>(
  known: readonly T[],
  mistake: ErrorClass,
  isGuessed = true,
): FieldType<T | undefined> {
  return {
    read: (fields, name) => fields.oneOf(name, known, mistake, isGuessed),
    words: known.map((word) => `\`${word}\``).join(', '),
    schema: schemas.oneOf(known),
  };
}
