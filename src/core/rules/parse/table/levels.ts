import type { FieldType } from '../../../../fields/types';
import { DESCRIPTOR_FIELDS, FILE_FIELDS } from './descriptor';
import {
  BLOCK_FIELDS,
  LIMIT_FIELDS,
  LIMITS_FROM_FIELDS,
  REPLACES_FIELDS,
  RESERVE_FIELDS,
} from './limit';
import type { FieldRow, FieldRows } from './row';

/** The maps of one level of a rule file. */
interface LevelRows {
  /** Completes "unknown key "x" …". */
  readonly where: string;
  /** One of them, in the message about a field that is missing; undefined: the file. */
  readonly called?: string;
  readonly fields: FieldRows;
}

const TABLE = {
  file: { where: 'at the top level of a file', fields: FILE_FIELDS },
  descriptor: { where: 'in a descriptor', called: 'a descriptor', fields: DESCRIPTOR_FIELDS },
  rate_limit: { where: 'in a rate_limit', fields: LIMIT_FIELDS },
  replaces: {
    where: 'in an entry of replaces',
    called: 'an entry of replaces',
    fields: REPLACES_FIELDS,
  },
  limits_from: { where: 'in limits_from', called: 'limits_from', fields: LIMITS_FROM_FIELDS },
  reserve: { where: 'in reserve', fields: RESERVE_FIELDS },
  block: { where: 'in block', called: 'block', fields: BLOCK_FIELDS },
} as const satisfies Readonly<Record<string, LevelRows>>;

export type Level = keyof typeof TABLE;
type Rows<L extends Level> = (typeof TABLE)[L]['fields'];

/** The names of the fields of a level. */
export type NameOf<L extends Level> = keyof Rows<L> & string;

/** What a field holds, once read. */
export type FieldValue<L extends Level, N extends NameOf<L>> = Rows<L>[N] extends {
  readonly type: FieldType<infer T>;
}
  ? T
  : never;

/** The table of all fields of rule files. */
export const RULE_LEVELS: Readonly<Record<Level, LevelRows>> = TABLE;

export const LEVELS = Object.keys(TABLE) as Level[];

/** The names of all levels. */
export const ALL_NAMES: readonly string[] = [
  ...new Set(LEVELS.flatMap((level) => Object.keys(TABLE[level].fields))),
];

/** The fields of a level that have such a row, in the order of the table. */
export function namesOf<L extends Level>(
  level: L,
  isMeant: (row: FieldRow) => boolean,
): readonly NameOf<L>[] {
  const rows = Object.entries<FieldRow>(TABLE[level].fields);
  return rows.filter(([, row]) => isMeant(row)).map(([name]) => name as NameOf<L>);
}

/** Whether a key has a meaning on a level. */
export function belongsIn(level: Level, name: string): boolean {
  return Object.hasOwn(TABLE[level].fields, name);
}
