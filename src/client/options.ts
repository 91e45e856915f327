import type { RateLimiterError } from './errors';

/** What happens to a request without a decision. */
export type ErrorPolicy = 'allow' | 'deny';

/** PEM strings or the bytes of PEM files. Certificate and key come together or not at all. */
export interface RateLimiterTls {
  /** The authorities that sign the service's certificate; default: Node's own. */
  readonly ca?: string | Uint8Array;
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
  /** The name on the service's certificate, if it differs from the host of `target`. */
  readonly serverName?: string;
}

export interface RateLimiterOptions {
  /** The gRPC port of the service: `host:port`, `dns:///host:port` or `unix:/path`. */
  readonly target: string;
  /** The domain of the rules. */
  readonly domain: string;
  /** Time limit of a call in milliseconds; 100 by default. */
  readonly timeoutMs?: number;
  /** Time limit of each of the two attempts of `settle`, for which no request waits; 1,000 by default. */
  readonly settleTimeoutMs?: number;
  /**
   * The result for a request without a decision: `allow` (default), `deny`, or the result of this function. It is called with every
   * such error, so it can log and count them; the call rejects with an error that it throws.
   */
  readonly onError?: ErrorPolicy | ((error: RateLimiterError) => ErrorPolicy);
  /** Default: no TLS. `true`: TLS with Node's own authorities. */
  readonly tls?: boolean | RateLimiterTls;
}

/** For gRPC `localhost` alone would be port 443: a port is required. */
const TARGET = /^(?:(?:dns:(?:\/\/[^\s/]*\/)?)?(?:\[[\da-f:.%]+\]|[^\s/:[\]]+):\d{1,5}|unix:.+)$/i;
/** The maximum of a timer of Node. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Throws a TypeError that names the option, its value and what was expected. */
export function parseOptions(options: RateLimiterOptions) {
  const { target, domain, timeoutMs = 100, settleTimeoutMs = 1_000, onError, tls } = options;
  return {
    target: parseText('target', target, TARGET, '<host>:<port> or unix:<path>'),
    domain: parseText('domain', domain, /./s, 'the domain of the rules'),
    timeoutMs: parseTimeout('timeoutMs', timeoutMs),
    settleTimeoutMs: parseTimeout('settleTimeoutMs', settleTimeoutMs),
    policyOf: parsePolicy(onError),
    /** Undefined: no TLS. */
    tls: parseTls(tls),
  };
}

function parseText(name: string, value: unknown, pattern: RegExp, expected: string): string {
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw mistake(name, value, expected);
}

function parsePolicy(
  onError: RateLimiterOptions['onError'] = 'allow',
): (error: RateLimiterError) => ErrorPolicy {
  if (typeof onError === 'function') return onError;
  if (!['allow', 'deny'].includes(onError))
    throw mistake('onError', onError, 'allow, deny or a function');
  return () => onError;
}

function parseTimeout(name: string, value: number): number {
  if (typeof value === 'number' && value > 0 && value <= MAX_TIMEOUT_MS) return value;
  throw mistake(name, value, 'milliseconds above 0');
}

function parseTls(tls: boolean | RateLimiterTls = false): RateLimiterTls | undefined {
  if (tls === false) return undefined;
  if (tls === true) return {};
  if (typeof tls !== 'object' || (tls as unknown) === null)
    throw mistake('tls', tls, 'true, false or an object');
  // Not shown: one of them is a secret.
  if ((tls.cert === undefined) !== (tls.key === undefined))
    throw new TypeError('tls: expected cert and key together, or neither');
  return tls;
}

/** A TypeError about an argument. */
export function mistake(name: string, value: unknown, expected: string): TypeError {
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return new TypeError(`${name} is ${shown}, expected ${expected}`);
}
