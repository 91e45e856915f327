import { destination, pino } from 'pino';
import { escapeInvisible, toTextLine } from './logfmt';
import type { LogFields, Logger, LogLevel } from './logger';
import { createNanoClock, toTimestamp } from './timestamp';

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: 'text' | 'json';
  /** Writes one line with its newline; default: to standard error, synchronously. */
  readonly write?: (line: string) => void;
  /** Unix nanoseconds. */
  readonly now?: () => bigint;
  /** Fields of every line. */
  readonly always?: LogFields;
}

/** Pino calls the level `warn`, the settings `warning`. */
const PINO_WARN = 'warn';
const STANDARD_ERROR = 2;

/** The log in one of the two documented shapes (docs/logging.md). */
export function createLogger(options: LoggerOptions): Logger {
  const { level, format, write = standardError(), now = createNanoClock(), always } = options;
  const shape = format === 'json' ? escapeInvisible : toTextLine;
  const lines = pino(
    {
      level: level === 'warning' ? PINO_WARN : level,
      base: always ?? null,
      messageKey: '@message',
      timestamp: () => `,"@timestamp":"${toTimestamp(now())}"`,
      formatters: { level: (label) => ({ level: label === PINO_WARN ? 'warning' : label }) },
    },
    {
      write(line: string) {
        write(`${shape(line.trimEnd())}\n`);
      },
    },
  );
  const at =
    (method: 'debug' | 'info' | 'warn' | 'error') => (message: string, fields?: LogFields) => {
      if (lines.isLevelEnabled(method)) lines[method](plainFields(fields ?? {}), message);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Writes to standard error: synchronous, so that the last line before an exit is not lost. */
export function standardError(): (line: string) => void {
  const out = destination({ dest: STANDARD_ERROR, sync: true });
  // A log that cannot be written must not end the service.
  out.on('error', () => undefined);
  return (line) => {
    out.write(line);
  };
}

/** Keys of the line itself; a field with such a name is written as `fields.<name>`. */
const TAKEN = new Set(['@message', '@timestamp', 'level', 'time', 'msg']);
/** A cycle of causes must not loop for ever. */
const MAX_CAUSES = 5;

/** Fields in a form that JSON can represent, whatever they were. */
function plainFields(fields: LogFields): Record<string, unknown> {
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
