import { destination, pino } from 'pino';

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

/** Characters of a value without quotes, as in logrus. */
const PLAIN = /^[A-Za-z0-9\-._/@^+]+$/;
/** Control and format characters and line separators, which could forge, hide or reorder a line. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A value of a `key=value` line: bare when it is simple, else quoted and escaped as in JSON. */
export function logfmtValue(text: string): string {
  return PLAIN.test(text) ? text : escapeInvisible(JSON.stringify(text));
}

/** Escapes characters that JSON leaves but a terminal or a reader of lines would obey. */
export function escapeInvisible(json: string): string {
  return json.replace(INVISIBLE, (character) => {
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}

/** A line of the JSON log as one of the text log: `time=… level=… msg=…`, then the fields. */
function toTextLine(json: string): string {
  const line = JSON.parse(json) as Record<string, unknown>;
  const { '@timestamp': time, level, '@message': message, ...fields } = line;
  const pairs = [`time=${value(time)}`, `level=${value(level)}`, `msg=${value(message)}`];
  for (const [key, field] of Object.entries(fields)) addPairs(pairs, key, field);
  return pairs.join(' ');
}

/** Nested fields get a dotted key: `error.message=… error.stack=…`. */
function addPairs(pairs: string[], key: string, field: unknown): void {
  if (typeof field !== 'object' || field === null) {
    pairs.push(`${logfmtValue(key)}=${value(field)}`);
    return;
  }
  for (const [name, inner] of Object.entries(field)) addPairs(pairs, `${key}.${name}`, inner);
}

function value(plain: unknown): string {
  return logfmtValue(String(plain));
}

/** Beyond this the time of day was set, and the monotonic clock is anchored to it again. */
const MAX_DRIFT_NS = 2_000_000n;
/** Between two clock reads that are further apart another process ran. */
const MAX_APART_NS = 1_000_000n;
const NS_PER_MS = 1_000_000n;

/** Unix nanoseconds: the time of day, with the finer digits of the monotonic clock. */
export function createNanoClock(): () => bigint {
  let offset = readOffset();
  return () => {
    const monotonic = process.hrtime.bigint();
    const wall = BigInt(Date.now()) * NS_PER_MS;
    if (isDrift(monotonic + offset - wall)) {
      // Also when the process waited for a processor between the two reads.
      const fresh = readOffset();
      if (isDrift(offset - fresh)) offset = fresh;
    }
    return monotonic + offset;
  };
}

/** The offset of the monotonic clock, from two reads at one moment. */
function readOffset(): bigint {
  for (;;) {
    const before = process.hrtime.bigint();
    const wall = BigInt(Date.now()) * NS_PER_MS;
    const after = process.hrtime.bigint();
    if (after - before < MAX_APART_NS) return wall - before;
  }
}

function isDrift(ns: bigint): boolean {
  return ns > MAX_DRIFT_NS || ns < -MAX_DRIFT_NS;
}

/** RFC 3339 in UTC with nine digits of a second. */
export function toTimestamp(nanoseconds: bigint): string {
  const milliseconds = Number(nanoseconds / NS_PER_MS);
  const rest = (nanoseconds % NS_PER_MS).toString().padStart(6, '0');
  return new Date(milliseconds).toISOString().replace('Z', `${rest}Z`);
}
