/**
 * A session that is added again under an id that was revoked is another incarnation of it. Tokens name the
 * one they were issued for, so that they stay revoked although nobody looks for them.
 */
interface Incarnate {
  /** Empty in what was written before there were incarnations. */
  readonly incarnation: string;
  /** Without the incarnation, not checked. */
  readonly record: unknown;
}

/** The text of a record with its incarnation. */
export function printIncarnate(record: object, incarnation: string): string {
  return JSON.stringify({ ...record, incarnation });
}

/** Divides what `printIncarnate` has put together. */
export function splitIncarnate(value: unknown): Incarnate {
  if (typeof value !== 'object' || value === null) return { incarnation: '', record: value };
  const { incarnation, ...record } = value as Readonly<Record<string, unknown>>;
  return { incarnation: typeof incarnation === 'string' ? incarnation : '', record };
}
