/** The gRPC status codes in use here (https://grpc.github.io/grpc/core/md_doc_statuscodes.html). */
export const StatusCode = {
  ok: 0,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const;

/** How a call ends without a response. */
export interface GrpcStatus {
  readonly code: number;
  readonly message: string;
}

/** The message travels in a header: the client's header limit would refuse longer ones. */
const MAX_MESSAGE_LENGTH = 1024;

export function grpcStatus(code: number, message: string): GrpcStatus {
  if (message.length <= MAX_MESSAGE_LENGTH) return { code, message };
  // Half a surrogate pair cannot be percent-encoded.
  const cut = message.slice(0, MAX_MESSAGE_LENGTH).replace(/[\uD800-\uDBFF]$/, '');
  return { code, message: `${cut}…` };
}

const encoder = new TextEncoder();

/** Encodes a message for `grpc-message`: the UTF-8 of everything but space to tilde, and of `%`, as %XX. */
export function percentEncode(message: string): string {
  if (/^[ -$&-~]*$/.test(message)) return message;
  let encoded = '';
  for (const byte of encoder.encode(message)) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    encoded += isPlain ? String.fromCharCode(byte) : `%${hex(byte)}`;
  }
  return encoded;
}

function hex(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, '0');
}
