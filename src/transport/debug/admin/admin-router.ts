import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Steps } from '../../../core/steps';
import { toReason } from '../../../platform/errors';
import type { TransportBounds } from '../../bounds';
import { readBody } from '../../read-body';
import { refuse, respond } from '../../responses';
import { serveWork, sendPieces, printJson } from '../work/serve-work';
import type { WorkScheduler } from '../work/work-scheduler';

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

export interface AdminOptions {
  readonly endpoints: readonly AdminEndpoint[];
  /** ADMIN_API. */
  readonly access: 'read' | 'write';
  /** Bounds of a body. */
  readonly bounds: TransportBounds;
}

/** The caller, as far as it was checked. */
export interface AdminCaller {
  readonly tokenId: string | undefined;
}

export type AdminRouter = (
  request: IncomingMessage,
  response: ServerResponse,
  caller: AdminCaller,
) => void;

/** The longest body: parsing it takes a millisecond or two, in one step. */
const MAX_BODY_BYTES = 65_536;
const JSON_TYPE = 'application/json';

/** Routes admitted calls to their endpoints, with one JSON answer each. */
export function createAdminRouter(
  { endpoints, access, bounds: given }: AdminOptions,
  work: WorkScheduler,
): AdminRouter {
  const bounds = { ...given, maxFixedBytes: MAX_BODY_BYTES };

  const run = (
    endpoint: AdminEndpoint,
    request: IncomingMessage,
    response: ServerResponse,
    { tokenId }: AdminCaller,
  ): void => {
    const query = new URLSearchParams(request.url?.split('?', 2)[1] ?? '');
    const peer = request.socket.remoteAddress ?? '';
    const begin = (text: string): void => {
      serveWork(work, response, {
        run: () => answerCall(endpoint, response, { body: undefined, text, query, peer, tokenId }),
        isLarge: endpoint.isLarge,
        failed(error) {
          send(response, refusedWith(500, 'internal', `this call failed: ${toReason(error)}`));
        },
        refused(error) {
          send(response, refusedWith(429, 'too_many_calls', error));
        },
      });
    };
    if (endpoint.method === 'GET') begin('');
    else
      readBody(request, bounds, (text) => {
        if (typeof text === 'string') begin(text);
        else refuse(response, text);
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
    else if (endpoint !== undefined) run(endpoint, request, response, caller);
  };
}

function* answerCall(
  endpoint: AdminEndpoint,
  response: ServerResponse,
  request: AdminRequest,
): Steps<void> {
  const isParsed = endpoint.method === 'POST' && endpoint.readsText !== true;
  const parsed = isParsed ? parseJson(request.text) : { body: undefined };
  yield;
  const { status, body, pieces } =
    'refused' in parsed
      ? parsed.refused
      : yield* endpoint.handle({ ...request, body: parsed.body });
  const contentType = typeof body === 'string' ? TEXT_TYPE : JSON_TYPE;
  const text = typeof body === 'string' ? [body] : printJson(body, 3);
  yield* sendPieces(response, { status, contentType, headers: NO_STORE }, pieces ?? text);
}

const TEXT_TYPE = 'text/plain; charset=utf-8';
const NO_STORE = { 'Cache-Control': 'no-store' };

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
  return refusedWith(405, 'wrong_method', `expected the method ${allowed}`);
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
  respond(response, status, JSON_TYPE, JSON.stringify(body), NO_STORE);
}
