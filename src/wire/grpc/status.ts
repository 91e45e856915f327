/** The gRPC status codes in use here (https://grpc.github.io/grpc/core/md_doc_statuscodes.html). */
export const StatusCode = {
  ok: 0,
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
} as const;

/** How a call ends when it gets no answer. */
export interface GrpcStatus {
  readonly code: number;
  readonly message: string;
}

export function grpcStatus(code: number, message: string): GrpcStatus {
  return { code, message };
}

const encoder = new TextEncoder();

/** A message as `grpc-message` carries it: UTF-8, everything but space to tilde, and `%`, as %XX. */
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
