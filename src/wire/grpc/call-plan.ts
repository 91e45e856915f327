import type { HeaderList } from '../http2/api';
import { ACCEPTED_ENCODINGS, refusalBlock } from './blocks';
import { StatusCode, grpcStatus, type GrpcStatus } from './status';
import { parseTimeout } from './timeout';

/** What a method must say of itself; the owner adds its own. */
export interface GrpcMethod {
  /** `one`: exactly one message, handed on when the request is complete. `many`: each as it comes. */
  readonly requests: 'one' | 'many';
}

/** What a header list says about a call. */
export type CallPlan<M> = AcceptedCall<M> | RefusedCall;

export interface AcceptedCall<M> {
  readonly method: M;
  /** Infinity without `grpc-timeout`. */
  readonly timeoutMs: number;
  readonly isGzip: boolean;
  readonly block: undefined;
}

export interface RefusedCall {
  /** The whole answer. */
  readonly block: Uint8Array;
  /** It is no gRPC call. A caller of gRPC may wait for the answer before it ends its request; others do not. */
  readonly isForeign: boolean;
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

/** The same and more; to be made once, for all connections. */
export function readNamesWith(more: readonly string[]): ReadonlySet<string> {
  return new Set([...READ_NAMES, ...more]);
}

/**
 * Reads header lists. A repeated block brings its plan with it; a list that differs from the one before only in fields
 * that mean nothing here (`traceparent`) gets the plan of that one.
 */
export function createPlanner<M>(
  methods: ReadonlyMap<string, M>,
): (headers: HeaderList) => CallPlan<M> {
  let fields = noFields();
  let before = noFields();
  let plan: CallPlan<M> | undefined;
  return (headers) => {
    // Nobody but this function writes the memo of a request's header list.
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

/** A number is compared faster than a text: most fields are none of these lengths. */
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
 * so may the subtype be any (`application/grpc+proto`): the message tells whether it is protobuf.
 */
function makePlan<M>(fields: CallFields, methods: ReadonlyMap<string, M>): CallPlan<M> {
  const { httpMethod, path, contentType, timeout, encoding } = fields;
  if (!/^application\/grpc($|[+;])/i.test(contentType)) {
    const message = `invalid gRPC request content-type "${shown(contentType)}"`;
    return refused(grpcStatus(StatusCode.invalidArgument, message), 415);
  }
  if (httpMethod !== 'POST') {
    const status = grpcStatus(StatusCode.internal, 'a gRPC call is a POST');
    return refused(status, 405, ['allow', 'POST']);
  }
  const timeoutMs = timeout === undefined ? Infinity : parseTimeout(timeout);
  if (timeoutMs === undefined) {
    const message = `malformed grpc-timeout "${shown(timeout ?? '')}"`;
    return refused(grpcStatus(StatusCode.internal, message), 200);
  }
  const method = methods.get(path);
  if (method === undefined) return refused(unknownMethod(path, methods), 200);
  if (encoding !== 'identity' && encoding !== 'gzip') {
    const message = `grpc-encoding "${shown(encoding)}" is not one of ${ACCEPTED_ENCODINGS}`;
    const status = grpcStatus(StatusCode.unimplemented, message);
    return refused(status, 200, ['grpc-accept-encoding', ACCEPTED_ENCODINGS]);
  }
  return { method, timeoutMs, isGzip: encoding === 'gzip', block: undefined };
}

function refused(
  status: GrpcStatus,
  httpStatus: number,
  ...more: readonly (readonly [string, string])[]
): RefusedCall {
  return { block: refusalBlock(httpStatus, status, more), isForeign: httpStatus !== 200 };
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

/** What a caller sent, short enough for a header. */
function shown(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
