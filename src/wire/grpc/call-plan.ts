import type { HeaderList } from '../http2/api';
import { ACCEPTED_ENCODINGS, rejectionBlock } from './responses';
import { StatusCode, grpcStatus, type GrpcStatus } from './status';

/** The consequences of a call's header list. */
export type CallPlan<M> = AcceptedCall<M> | RejectedCall;

export interface AcceptedCall<M> {
  readonly method: M;
  /** Infinity without `grpc-timeout`. */
  readonly timeoutMs: number;
  readonly isGzip: boolean;
  readonly block: undefined;
}

export interface RejectedCall {
  /** The whole response. */
  readonly block: Uint8Array;
  /** Not a gRPC call. A gRPC client may wait for the response before it ends its request; others do not. */
  readonly isNotGrpc: boolean;
}

interface CallFields {
  httpMethod: string;
  path: string;
  contentType: string;
  timeout: string | undefined;
  encoding: string;
}

/** All regular fields that a call's plan depends on. */
export const READ_NAMES: ReadonlySet<string> = new Set([
  'content-type',
  'grpc-timeout',
  'grpc-encoding',
]);

/** Those and more; create it once, for all connections. */
export function readNamesWith(more: readonly string[]): ReadonlySet<string> {
  return new Set([...READ_NAMES, ...more]);
}

/**
 * Plans calls by their header lists. A repeated list has its plan as `memo`; a list that differs from the one before only in
 * fields that are not read here (`traceparent`) shares the plan of that one.
 */
export function createPlanner<M>(
  methods: ReadonlyMap<string, M>,
): (headers: HeaderList) => CallPlan<M> {
  let fields = noFields();
  let before = noFields();
  let plan: CallPlan<M> | undefined;
  return (headers) => {
    // Only this function writes the memo of a request's header list.
    const known = headers.memo as CallPlan<M> | undefined;
    if (known !== undefined) return known;
    readFields(headers, fields);
    if (plan === undefined || !isSame(fields, before)) plan = makePlan(fields, methods);
    [fields, before] = [before, fields];
    headers.memo = plan;
    return plan;
  };
}

function noFields(): CallFields {
  return { httpMethod: '', path: '', contentType: '', timeout: undefined, encoding: 'identity' };
}

function readFields({ names, values }: HeaderList, fields: CallFields): void {
  fields.httpMethod = '';
  fields.contentType = '';
  fields.path = '';
  fields.timeout = undefined;
  fields.encoding = 'identity';
  for (let i = 0; i < names.length; i++) readField(names[i] as string, values[i] as string, fields);
}

/** Compares lengths first, which is cheaper: most fields have none of these. */
function readField(name: string, value: string, fields: CallFields): void {
  const { length } = name;
  if (length === 5 && name === ':path') fields.path = value;
  else if (length === 7 && name === ':method') fields.httpMethod = value;
  else if (length === 12) {
    if (name === 'content-type') fields.contentType = value;
    else if (name === 'grpc-timeout') fields.timeout = value;
  } else if (length === 13 && name === 'grpc-encoding') fields.encoding = value;
}

function isSame(a: CallFields, b: CallFields): boolean {
  return (
    a.path === b.path &&
    a.timeout === b.timeout &&
    a.contentType === b.contentType &&
    a.httpMethod === b.httpMethod &&
    a.encoding === b.encoding
  );
}

/**
 * The order of the checks and their status codes are grpc-go's. `te: trailers` may be missing, as there;
 * any subtype is accepted (`application/grpc+proto`): decoding shows whether it is protobuf.
 */
function makePlan<M>(fields: CallFields, methods: ReadonlyMap<string, M>): CallPlan<M> {
  const { httpMethod, path, contentType, timeout, encoding } = fields;
  if (!/^application\/grpc($|[+;])/i.test(contentType)) {
    const message = `invalid gRPC request content-type "${shown(contentType)}"`;
    return rejected(grpcStatus(StatusCode.invalidArgument, message), 415);
  }
  if (httpMethod !== 'POST') {
    const status = grpcStatus(StatusCode.internal, 'a gRPC call is a POST');
    return rejected(status, 405, ['allow', 'POST']);
  }
  const timeoutMs = timeout === undefined ? Infinity : parseTimeout(timeout);
  if (timeoutMs === undefined) {
    const message = `malformed grpc-timeout "${shown(timeout ?? '')}"`;
    return rejected(grpcStatus(StatusCode.internal, message), 200);
  }
  const method = methods.get(path);
  if (method === undefined) return rejected(unknownMethod(path, methods), 200);
  if (encoding !== 'identity' && encoding !== 'gzip') {
    const message = `grpc-encoding "${shown(encoding)}" is not one of ${ACCEPTED_ENCODINGS}`;
    const status = grpcStatus(StatusCode.unimplemented, message);
    return rejected(status, 200, ['grpc-accept-encoding', ACCEPTED_ENCODINGS]);
  }
  return { method, timeoutMs, isGzip: encoding === 'gzip', block: undefined };
}

function rejected(
  status: GrpcStatus,
  httpStatus: number,
  ...more: readonly (readonly [string, string])[]
): RejectedCall {
  return { block: rejectionBlock(httpStatus, status, more), isNotGrpc: httpStatus !== 200 };
}

function unknownMethod(path: string, methods: ReadonlyMap<string, unknown>): GrpcStatus {
  const [, service, method] = /^\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  if (service === undefined || method === undefined) {
    return grpcStatus(StatusCode.unimplemented, `malformed method name "${shown(path)}"`);
  }
  const isKnown = [...methods.keys()].some((known) => known.startsWith(`/${service}/`));
  const message = isKnown
    ? `unknown method ${shown(method)} of service ${shown(service)}`
    : `unknown service ${shown(service)}`;
  return grpcStatus(StatusCode.unimplemented, message);
}

/** A client's text, cut to a length that fits a header. */
function shown(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}

const MILLISECONDS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

const MAX_DIGITS = 8;

/** Reads `grpc-timeout` (at most eight digits and a unit) as milliseconds; undefined if it is invalid. */
export function parseTimeout(text: string): number | undefined {
  const digits = text.length - 1;
  const unit = MILLISECONDS[text.charAt(digits)];
  if (unit === undefined || digits < 1 || digits > MAX_DIGITS) return undefined;
  let value = 0;
  for (let i = 0; i < digits; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value * unit;
}
