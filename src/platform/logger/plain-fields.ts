import type { LogFields } from './logger';

/** Keys of the line itself; a field of that name is written as `fields.<name>`. */
const TAKEN = new Set(['@message', '@timestamp', 'level', 'time', 'msg']);
/** An error that causes itself must not keep us busy. */
const MAX_CAUSES = 5;

/** Fields that can be written as JSON, whatever they were. */
export function plainFields(fields: LogFields): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(fields)) {
    plain[TAKEN.has(key) ? `fields.${key}` : key] = plainValue(field);
  }
  return plain;
}

function plainValue(field: unknown): unknown {
  if (field instanceof Error) return plainError(field, MAX_CAUSES);
  if (typeof field === 'bigint' || typeof field === 'symbol') return field.toString();
  if (typeof field === 'function') return '[function]';
  return field;
}

function plainError(error: Error, causesLeft: number): Record<string, unknown> {
  try {
    const { cause, message, stack } = error;
    const code = 'code' in error ? error.code : undefined;
    return {
      message: message === '' ? error.name : message,
      code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
      stack,
      cause:
        cause instanceof Error && causesLeft > 0 ? plainError(cause, causesLeft - 1) : undefined,
    };
  } catch {
    return { message: 'an error that cannot be read' };
  }
}
