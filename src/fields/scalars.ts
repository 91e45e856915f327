import type { Located, LocatedScalar } from './located';

/** The value of a scalar by YAML 1.1, as today's rule files are read. */
export type Resolved =
  | { readonly type: 'null' }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'integer'; readonly value: number }
  | { readonly type: 'fraction'; readonly value: number }
  | { readonly type: 'text'; readonly value: string };

const NULLS = new Set(['', '~', 'null', 'Null', 'NULL']);
const TRUES = new Set('y Y yes Yes YES true True TRUE on On ON'.split(' '));
const FALSES = new Set('n N no No NO false False FALSE off Off OFF'.split(' '));

const STARTS_NUMBER = /^[-+.0-9]/;
const INTEGER = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/;
const FRACTION = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const OCTAL_LOOKALIKE = /^[-+]?0[0-9]+$/;
const NO_NUMBER = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/**
 * Resolves an unquoted scalar: null, boolean (`yes`, `off`), whole number (`0x1F`, `0b11`, `010` is 8, `1_000`), fraction, string.
 * No base-60 numbers and no dates: `1:30` and `2024-01-01` are strings, and so is `08`, which is neither octal nor decimal.
 */
export function resolveScalar({ text, quoted }: LocatedScalar): Resolved {
  if (quoted) return { type: 'text', value: text };
  if (NULLS.has(text)) return { type: 'null' };
  if (TRUES.has(text)) return { type: 'boolean', value: true };
  if (FALSES.has(text)) return { type: 'boolean', value: false };
  if (!STARTS_NUMBER.test(text)) return { type: 'text', value: text };
  return resolveNumber(text);
}

function resolveNumber(text: string): Resolved {
  const plain = text.replaceAll('_', '');
  const digits = INTEGER.exec(plain);
  if (digits !== null) return { type: 'integer', value: toInteger(digits) };
  if (OCTAL_LOOKALIKE.test(plain)) return { type: 'text', value: text };
  if (FRACTION.test(plain)) return { type: 'fraction', value: Number(plain) };
  if (NO_NUMBER.test(text)) return { type: 'fraction', value: NaN };
  return { type: 'text', value: text };
}

function toInteger([, sign, hex, binary, octal, decimal]: RegExpExecArray): number {
  const size =
    hex !== undefined
      ? parseInt(hex, 16)
      : binary !== undefined
        ? parseInt(binary, 2)
        : octal !== undefined
          ? parseInt(octal, 8)
          : Number(decimal);
  return sign === '-' && size !== 0 ? -size : size;
}

/** The node; undefined when it is missing, empty, `~` or `null`. */
export function present(node: Located | undefined): Located | undefined {
  const isNull = node?.kind === 'scalar' && resolveScalar(node).type === 'null';
  return isNull ? undefined : node;
}

/** Whether it has a value other than `false` or an empty list. */
export function isSet(field: Located | undefined): boolean {
  const node = present(field);
  if (node?.kind === 'list') return node.items.length > 0;
  const scalar = node?.kind === 'scalar' ? resolveScalar(node) : undefined;
  return node !== undefined && !(scalar?.type === 'boolean' && !scalar.value);
}
