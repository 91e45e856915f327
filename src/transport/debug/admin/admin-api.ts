import type { Steps } from '../../../core/steps';

/** One call of the operator API. */
export interface AdminRequest {
  /** The JSON of a POST; undefined for a GET, and for an endpoint that parses the text itself. */
  readonly body: unknown;
  /** The body as received; empty for a GET. */
  readonly text: string;
  readonly query: URLSearchParams;
  /** Address of the client, for the log. */
  readonly peer: string;
  /** The first eight hexadecimal digits of the SHA-256 of the token; undefined when none is required. */
  readonly tokenId: string | undefined;
}

export interface AdminAnswer {
  readonly status: number;
  /** A string is sent unchanged, everything else as JSON. */
  readonly body: unknown;
  /** JSON in pieces, generated while it is sent, in place of a body. */
  readonly pieces?: Steps<void, string>;
}

/** A path of the operator API. */
export interface AdminEndpoint {
  readonly method: 'GET' | 'POST';
  /** Complete: `/api/v1/explain`. */
  readonly path: string;
  /** `write` is served only with ADMIN_API=write. */
  readonly access: 'read' | 'write';
  /** Whether `handle` parses the body itself, with its own messages. */
  readonly readsText?: boolean;
  /** Whether an answer occupies much memory until it is read: few are made at a time. */
  readonly isLarge?: boolean;
  /** Throws only for an internal fault. A step takes a fraction of a millisecond. */
  handle(request: AdminRequest): Steps<AdminAnswer>;
}

/** All paths of the operator API start with it. */
export const ADMIN_PREFIX = '/api/v1/';

/** The answer to a refused call, in the form of `/json`. */
export function refusedWith(status: number, code: string, error: string): AdminAnswer {
  return { status, body: { error, code } };
}
