import type { ServerResponse } from 'node:http';
import type { Refusal } from './refusal';

/** Writes a whole answer. Does nothing when the caller has gone or was answered already. */
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
  // Node leaves the body out by itself when the method was HEAD.
  response.end(body);
}

export function respondJson(response: ServerResponse, status: number, json: string): void {
  respond(response, status, 'application/json', json);
}

export function refuse(response: ServerResponse, { status, body, headers }: Refusal): void {
  respond(response, status, 'application/json', JSON.stringify(body), headers);
}
