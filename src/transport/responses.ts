import type { ServerResponse } from 'node:http';
import type { Failure, FailureCode } from '../core/errors';
import type { Answer } from '../core/ports';

/** Why a request gets no decision, as written to the client. */
export interface Refusal {
  readonly status: number;
  readonly body: {
    /** A lowercase sentence with the mistake and what was expected. */
    readonly error: string;
    /** Stable, for programs. */
    readonly code: string;
    readonly where?: string;
    readonly line?: number;
    readonly column?: number;
  };
  readonly headers?: Readonly<Record<string, string>>;
}

export function refusal(
  status: number,
  code: string,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): Refusal {
  return { status, body: { error, code }, headers };
}

/** The one place where failures become HTTP statuses. A hung store is a store that is down: 503 (behaviour.md §4.5). */
const STATUS_OF_FAILURE: Readonly<Record<FailureCode, number>> = {
  invalid_request: 400,
  no_rules: 503,
  store_unavailable: 503,
  store_timeout: 503,
  draining: 503,
  internal: 500,
};

export function toRefusal({ code, message }: Failure): Refusal {
  return refusal(STATUS_OF_FAILURE[code], code, message);
}

export function toHttpStatus(answer: Answer): number {
  if (answer.kind === 'failure') return STATUS_OF_FAILURE[answer.code];
  return answer.overallCode === 'OVER_LIMIT' ? 429 : 200;
}

/** Writes a whole answer. No effect when the client has left or was answered already. */
export function respond(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  });
  // Node omits the body by itself when the method was HEAD.
  response.end(body);
}

export function respondJson(
  response: ServerResponse,
  status: number,
  json: string,
  headers?: Readonly<Record<string, string>>,
): void {
  respond(response, status, 'application/json', json, headers);
}

export function refuse(response: ServerResponse, { status, body, headers }: Refusal): void {
  respond(response, status, 'application/json', JSON.stringify(body), headers);
}
