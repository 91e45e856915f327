import { destination, pino } from 'pino';
import { escapeInvisible, toTextLine } from './logfmt';
import type { LogFields, Logger, LogLevel } from './logger';
import { plainFields } from './plain-fields';
import { createNanoClock, toTimestamp } from './timestamp';

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: 'text' | 'json';
  /** Takes one line with its newline; by default it is written to standard error at once. */
  readonly write?: (line: string) => void;
  /** Unix nanoseconds. */
  readonly now?: () => bigint;
  /** Stand in every line. */
  readonly always?: LogFields;
}

/** Pino calls the level `warn`, the settings `warning`. */
const PINO_WARN = 'warn';
const STANDARD_ERROR = 2;

/** The log in one of the two shapes of the document (docs/logging.md). */
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
