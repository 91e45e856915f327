import type { IncomingMessage, ServerResponse } from 'node:http';
import { toReason } from '../../../platform/errors';
import type { TransportBounds } from '../../bounds';
import { readBody } from '../../read-body';
import { refuse, respond } from '../../responses';
import { refusedWith, type AdminAnswer, type AdminEndpoint } from './admin-api';

export interface AdminRouterOptions {
  readonly endpoints: readonly AdminEndpoint[];
  /** ADMIN_API. */
  readonly access: 'read' | 'write';
  /** Of a body. */
  readonly bounds: TransportBounds;
  readonly monotonicMs: () => number;
}

/** Who calls, as far as it was checked. */
export interface AdminCaller {
  /** See AdminRequest. */
  readonly tokenId: string | undefined;
}

export type AdminRouter = (
  request: IncomingMessage,
  response: ServerResponse,
  caller: AdminCaller,
) => void;

/** Calls of `read` endpoints in a second. */
const READS_PER_SECOND = 50;

/** Gives calls that were admitted to their endpoints, one JSON answer each. */
export function createAdminRouter(options: AdminRouterOptions): AdminRouter {
  const { endpoints, access, bounds, monotonicMs } = options;
  const mayRead = createAllowance(READS_PER_SECOND, monotonicMs);

  const run = (
    endpoint: AdminEndpoint,
    request: IncomingMessage,
    response: ServerResponse,
    { tokenId }: AdminCaller,
  ): void => {
    const query = new URLSearchParams(request.url?.split('?', 2)[1] ?? '');
    const peer = request.socket.remoteAddress ?? '';
    const handle = (text: string, body: unknown): void => {
      endpoint.handle({ body, text, query, peer, tokenId }).then(
        (answer) => {
          send(response, answer);
        },
        (error: unknown) => {
          send(response, refusedWith(500, 'internal', `this call failed: ${toReason(error)}`));
        },
      );
    };
    if (endpoint.method === 'GET') {
      handle('', undefined);
      return;
    }
    readBody(request, bounds, (text) => {
      if (typeof text !== 'string') {
        refuse(response, text);
        return;
      }
      const parsed = endpoint.readsText === true ? { body: undefined } : parseJson(text);
      if ('refused' in parsed) send(response, parsed.refused);
      else handle(text, parsed.body);
    });
  };

  return (request, response, caller) => {
    const { method = '', url = '' } = request;
    const [path = ''] = url.split('?', 1);
    const ofPath = endpoints.filter((one) => one.path === path);
    const endpoint = ofPath.find((one) => one.method === (method === 'HEAD' ? 'GET' : method));
    const refused =
      endpoint === undefined
        ? refuseUnknown(ofPath, endpoints, response)
        : refuseCall(endpoint, request, access);
    if (refused !== undefined) sendAdmin(request, response, refused);
    else if (endpoint?.access === 'read' && !mayRead()) {
      response.setHeader('Retry-After', '1');
      const error = `more than ${String(READS_PER_SECOND)} calls in a second, try again in the next`;
      sendAdmin(request, response, refusedWith(429, 'too_many_calls', error));
    } else if (endpoint !== undefined) run(endpoint, request, response, caller);
  };
}

function refuseUnknown(
  ofPath: readonly AdminEndpoint[],
  all: readonly AdminEndpoint[],
  response: ServerResponse,
): AdminAnswer {
  if (ofPath.length === 0) {
    const known = all.map(({ method, path }) => `${method} ${path}`).join(', ');
    return refusedWith(404, 'not_found', `no such path; expected one of ${known}`);
  }
  const allowed = ofPath.map(({ method }) => method).join(', ');
  response.setHeader('Allow', allowed);
  return refusedWith(405, 'wrong_method', `this path takes ${allowed}`);
}

function refuseCall(
  endpoint: AdminEndpoint,
  { headers }: IncomingMessage,
  access: 'read' | 'write',
): AdminAnswer | undefined {
  if (endpoint.access === 'write' && access === 'read')
    return refusedWith(403, 'read_only', 'this path changes counters: it needs ADMIN_API=write');
  const type = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (endpoint.method === 'POST' && type !== 'application/json') {
    const error = `content-type is ${JSON.stringify(type)}, expected application/json`;
    return refusedWith(415, 'wrong_content_type', error);
  }
  return undefined;
}

function parseJson(text: string): { readonly body: unknown } | { readonly refused: AdminAnswer } {
  try {
    return { body: JSON.parse(text) as unknown };
  } catch (error) {
    return { refused: refusedWith(400, 'malformed', `the body is not JSON: ${toReason(error)}`) };
  }
}

/** Answers a call whose body is not read. */
export function sendAdmin(
  request: IncomingMessage,
  response: ServerResponse,
  answer: AdminAnswer,
): void {
  request.resume();
  send(response, answer);
}

function send(response: ServerResponse, { status, body }: AdminAnswer): void {
  const isText = typeof body === 'string';
  const type = isText ? 'text/plain; charset=utf-8' : 'application/json';
  const headers = { 'Cache-Control': 'no-store' };
  respond(response, status, type, isText ? body : JSON.stringify(body), headers);
}

/** Allows so many calls in each second of a clock that only goes forward. */
function createAllowance(perSecond: number, monotonicMs: () => number): () => boolean {
  let startMs = -Infinity;
  let left = 0;
  return () => {
    const nowMs = monotonicMs();
    if (nowMs - startMs >= 1_000) {
      startMs = nowMs;
      left = perSecond;
    }
    left -= 1;
    return left >= 0;
  };
}
