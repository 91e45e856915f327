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
}

interface CallFields {
  httpMethod: string;
  path: string;
  contentType: string;
  timeout: string | undefined;
  encoding: string;
}

/** Reads the header list once; a repeated block brings its plan with it. */
export function planCall<M>(headers: HeaderList, methods: ReadonlyMap<string, M>): CallPlan<M> {
  // Nobody but this function writes the memo of a request's header list.
  const known = headers.memo as CallPlan<M> | undefined;
  if (known !== undefined) return known;
  const plan = makePlan(readFields(headers), methods);
  headers.memo = plan;
  return plan;
}

function readFields({ names, values }: HeaderList): CallFields {
  const fields: CallFields = {
    httpMethod: '',
    path: '',
    contentType: '',
    timeout: undefined,
    encoding: 'identity',
  };
  names.forEach((name, index) => {
    const value = values[index] as string;
    if (name === ':method') fields.httpMethod = value;
    else if (name === ':path') fields.path = value;
    else if (name === 'content-type') fields.contentType = value;
    else if (name === 'grpc-timeout') fields.timeout = value;
    else if (name === 'grpc-encoding') fields.encoding = value;
  });
  return fields;
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
  return { block: refusalBlock(httpStatus, status, more) };
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
