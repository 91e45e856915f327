/** Longer texts are cut: a server may have written them. */
const MAX_TEXT_LENGTH = 200;
const MAX_EXAMINED_LENGTH = 2_000;

const CODES: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EADDRINUSE: 'the address is in use',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EAI_AGAIN: 'the name server does not answer',
  ECONNABORTED: 'the connection was aborted',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the other side reset the connection',
  EHOSTUNREACH: 'no route to the host',
  EISDIR: 'it is a directory',
  ELOOP: 'too many symbolic links',
  EMFILE: 'this process has too many files open',
  ENETUNREACH: 'no route to the network',
  ENFILE: 'this machine has too many files open',
  ENOENT: 'it does not exist',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'it is not a directory',
  ENOTFOUND: 'the name has no address',
  EPERM: 'permission denied',
  EPIPE: 'the other side closed the connection',
  ESERVFAIL: 'the name server failed',
  ETIMEDOUT: 'no answer in time',
};

const NO_TLS = 'the server does not speak TLS';
const UNKNOWN_AUTHORITY = "an unknown authority signed the server's certificate";
const CLOSED = 'the connection is closed';

/** Causes as OpenSSL names them, and their meaning. */
const TLS_CAUSES: readonly (readonly [RegExp, string])[] = [
  [/wrong version number|packet length too long|http request/, NO_TLS],
  [/alert certificate required|peer did not return/, 'the server requires a client certificate'],
  [/alert unknown ca/, 'the server does not know the authority of the client certificate'],
  [/alert certificate expired/, 'the client certificate has expired'],
  [/alert .*certificate/, 'the server rejected the client certificate'],
  [/unrecognized name/, 'the server does not serve the requested name'],
  [/handshake failure|protocol|shared cipher/, 'no common TLS version or cipher'],
  [/no start line|bad end line|bad base64/, 'expected a PEM file'],
  [/key values mismatch/, 'the key does not belong to the certificate'],
];

type Words = string | ((...parts: string[]) => string);

/** Texts of libraries, and their meaning for an operator. No replacement matches another pattern. */
const PHRASES: readonly (readonly [RegExp, Words])[] = [
  [
    /(?:\w+ EPROTO )?(?:[0-9A-F]+:)?error:[0-9A-F]+:[\w ]+ routines:[^:\n]*:([^:\n]*)[^\n]*\n?/,
    (_, cause = '') => TLS_CAUSES.find(([pattern]) => pattern.test(cause))?.[1] ?? `TLS: ${cause}`,
  ],
  [/^certificate has expired/, "the server's certificate has expired"],
  [/(?<=: )certificate has expired/, "the server's certificate has expired"],
  [/certificate is not yet valid/, "the server's certificate is not valid yet"],
  [/self[- ]signed certificate(?: in certificate chain)?/, UNKNOWN_AUTHORITY],
  [/unable to verify the first certificate/, UNKNOWN_AUTHORITY],
  [/unable to get (?:local )?issuer certificate/, UNKNOWN_AUTHORITY],
  [
    /Hostname\/IP does not match certificate's altnames: (?:Host|IP): (\S+) is not in the cert's (?:altnames|list): ([^\n]*)/,
    (_, wanted = '', held = '') =>
      `the server's certificate is for ${held || 'no address'} and not for ${wanted.replace(/\.$/, '')}`,
  ],
  [/Hostname\/IP does not match certificate's altnames/, "the server's certificate has no name"],
  [
    /Client network socket disconnected before secure TLS connection was established/,
    'the server closed the connection before TLS was set up',
  ],
  [/Unknown RESP type 72 ".*"(?:\. Please report this\.)?/s, 'this is an HTTP port, not Redis'],
  [/Unknown RESP type 21 ".*"(?:\. Please report this\.)?/s, 'the server speaks TLS only'],
  [
    /Unknown RESP type \d+ ".*"(?:\. Please report this\.)?/s,
    'the server does not speak the Redis protocol',
  ],
  [/Stream isn't writeable and enableOfflineQueue options is false/, CLOSED],
  [/^Connection is closed\.$/, CLOSED],
  [/^Command timed out$/, 'no answer in time'],
  [/^Reached the max retries per request limit.*/, 'the connection was lost before the answer'],
  [/^(?:None of startup nodes is available|Failed to refresh slots cache\.)$/, 'no node answers'],
  [/^(?:14 UNAVAILABLE: )?No connection established\. Last error: (?:Error: )?/, 'no connection: '],
  [
    /^(?:14 UNAVAILABLE: )?Name resolution failed for target (?:dns:)?(\S+)/,
    (_, target = '') => `the name of ${target} has no address`,
  ],
  [/\bFailed to connect(?: \([\dT:.Z-]+\))?/, 'the server closed the connection'],
  [/\. ?Resolution note: *$/, ''],
  [
    /\b(?:bind|connect|getaddrinfo|listen|query\w+|read|recv\w*|send\w*|shutdown|write) (E[A-Z_]+)\b(?: ([^\s,;]*[\w\]]))?/g,
    (_, code = '', place?: string) => describeCode(code, place),
  ],
  [
    /\b(E[A-Z]+): [\w ,-]+, \w+(?: '([^']*)')?/,
    (_, code = '', place?: string) => describeCode(code, place),
  ],
];

/**
 * The reason of a failure in words for an operator: a log, a health check, a message on standard error. Texts of libraries and of
 * the system are put into plain words; all others are unchanged.
 */
export function toReason(error: unknown): string {
  // A connection to several addresses fails with all their errors and no text of its own.
  if (error instanceof AggregateError && error.errors.length > 0)
    return shorten([...new Set(error.errors.map(toReason))].join(', '));
  let text = textOf(error).slice(0, MAX_EXAMINED_LENGTH);
  for (const [pattern, words] of PHRASES) text = text.replace(pattern, words as string);
  return shorten(text);
}

function textOf(error: unknown): string {
  const { message, code, name, cause } = Object(error) as Partial<Record<string, unknown>>;
  // The only text that fetch itself has.
  if (message === 'fetch failed' && cause !== undefined) return toReason(cause);
  if (typeof message === 'string' && message !== '') return message;
  if (typeof code === 'string') return describeCode(code);
  return error instanceof Error ? String(name) : String(error);
}

export function shorten(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
}

/** The system's code of an error (`ENOENT`); `unknown` when it has none. */
export function errorCode(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === 'string' ? code : 'unknown';
}

/** The meaning of a code, for a message, with its address or path: `permission denied (EACCES)`. */
export function describeCode(code: string, place?: string): string {
  const shown = place === undefined ? code : `${code} ${place}`;
  const words = CODES[code];
  return words === undefined ? shown : `${words} (${shown})`;
}

/** An invalid command line; the message says what was expected. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'usage';
}
