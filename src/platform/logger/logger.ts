/** The lowest level that is written, in the words of LOG_LEVEL. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warning' | 'error' | 'fatal';

/** Further facts of a line. Errors become message, stack and cause; secrets are the caller's duty. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes lines. Never throws, whatever the fields contain. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}
