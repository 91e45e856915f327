import type { IncomingMessage, ServerResponse } from 'node:http';
import { failure } from '../../core/errors';
import type { Decision, DescriptorStatus, Header } from '../../core/model';
import type { Responder, CallKind, CallTracer, PendingRequest, Statistics } from '../../core/ports';
import type { TransportBounds } from '../bounds';
import { headersOf } from './call-headers';
import { type MalformedBody, parseRequest } from './json-request';
import { readBody } from '../read-body';
import { refuse, respondJson, toHttpStatus, toRefusal, type Refusal } from '../responses';

/** `POST /json` in the terms of OpenTelemetry's conventions for HTTP. */
const JSON_CALL: CallKind = {
  name: 'POST /json',
  attributes: {
    'http.request.method': 'POST',
    'http.route': '/json',
    'url.path': '/json',
    'url.scheme': 'http',
  },
  statusAttribute: 'http.response.status_code',
  statusOf: toHttpStatus,
};

interface DecisionDeps {
  readonly bounds: TransportBounds;
  readonly ask: (pending: PendingRequest) => void;
  readonly statistics: Statistics;
  readonly tracer?: CallTracer | undefined;
}

/** Counts bodies that were not a request, or beyond the bounds; our own statistic, the reference counts nothing here. */
const REFUSED = 'ratelimit_http.json.refused';

/** `POST /json`: one responder for all calls, the call id is the number of the call. */
export function createJsonEndpoint({ bounds, ask, statistics, tracer }: DecisionDeps) {
  const calls = new Map<number, ServerResponse>();
  let lastCallId = 0;

  const responder: Responder = {
    hasLeft: (callId) => !calls.has(callId),
    answer(callId, answer) {
      const response = calls.get(callId);
      calls.delete(callId);
      if (response === undefined) return false;
      if (answer.kind === 'failure') refuse(response, toRefusal(answer));
      else respondJson(response, toHttpStatus(answer), printDecision(answer), ownHeaders(answer));
      return true;
    },
  };

  const decline = (response: ServerResponse, reason: Refusal): void => {
    statistics.count(REFUSED, 1);
    refuse(response, reason);
  };

  return (request: IncomingMessage, response: ServerResponse): void => {
    const trace = tracer?.start(JSON_CALL, headersOf(request));
    readBody(request, bounds, (body) => {
      if (typeof body !== 'string') {
        decline(response, body);
        return;
      }
      const parsed = parseRequest(body, bounds);
      if ('kind' in parsed) {
        trace?.refused(failure('invalid_request', parsed.message));
        decline(response, toMalformed(parsed));
        return;
      }
      const callId = ++lastCallId;
      calls.set(callId, response);
      response.once('close', () => calls.delete(callId));
      ask({ request: parsed, responder, callId, trace });
    });
  };
}

const NO_HEADERS = {};

/** The caller of `/json` is the client itself, so it is the one that must wait. */
function ownHeaders({ retryAfter }: Decision): Readonly<Record<string, string>> {
  return retryAfter === undefined ? NO_HEADERS : { 'Retry-After': retryAfter };
}

/** The refusal of a body that is not a request. */
export function toMalformed({ kind, message, ...place }: MalformedBody): Refusal {
  const code = kind === 'malformed' ? 'malformed' : 'invalid_request';
  return { status: 400, body: { error: message, code, ...place } };
}

/**
 * A RateLimitResponse in proto3 JSON: camelCase, enums by name, default values omitted, durations as seconds with an `s`, bytes in
 * base64.
 */
export function printDecision(decision: Decision): string {
  const { overallCode, statuses, responseHeaders, rawBody, dynamicMetadata } = decision;
  return JSON.stringify({
    overallCode,
    statuses: statuses.length === 0 ? undefined : statuses.map(toStatus),
    responseHeadersToAdd: responseHeaders.length === 0 ? undefined : responseHeaders.map(toHeader),
    rawBody: rawBody === undefined ? undefined : Buffer.from(rawBody).toString('base64'),
    dynamicMetadata,
  });
}

function toStatus({ code, currentLimit, limitRemaining, secondsUntilReset }: DescriptorStatus) {
  return {
    code,
    currentLimit: currentLimit && {
      name: currentLimit.name || undefined,
      requestsPerUnit: currentLimit.requestsPerUnit || undefined,
      unit: currentLimit.unit === 'UNKNOWN' ? undefined : currentLimit.unit,
      unitMultiplier: currentLimit.unitMultiplier,
    },
    limitRemaining: limitRemaining || undefined,
    durationUntilReset:
      secondsUntilReset === undefined ? undefined : `${String(secondsUntilReset)}s`,
  };
}

function toHeader({ key, value }: Header) {
  return { key: key || undefined, value: value || undefined };
}
