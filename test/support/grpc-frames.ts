import { gzipSync } from 'node:zlib';
import { END_HEADERS, END_STREAM, Type, data, field, frame } from './h2-frames';

/** HEADERS of a gRPC call of this method. */
export function openGrpc(
  id: number,
  path: string,
  ...headers: readonly (readonly [name: string, value: string])[]
): Buffer {
  const block = Buffer.concat([
    Buffer.from([0x83, 0x86]),
    field(':path', path),
    field(':authority', 'rls.test'),
    field('te', 'trailers'),
    field('content-type', 'application/grpc'),
    ...headers.map(([name, value]) => field(name, value)),
  ]);
  return frame(Type.headers, END_HEADERS, id, block);
}

/** A message with its prefix. */
export function grpcMessage(content: Uint8Array, flag = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(content.length, 1);
  return Buffer.concat([prefix, content]);
}

/** A whole call whose message is packed. */
export function packedCall(
  id: number,
  path: string,
  content: Uint8Array,
  ...headers: readonly (readonly [name: string, value: string])[]
): Buffer {
  const body = grpcMessage(gzipSync(content), 1);
  const pieces = [openGrpc(id, path, ['grpc-encoding', 'gzip'], ...headers)];
  for (let at = 0; at < body.length; at += 16_384) {
    const isLast = at + 16_384 >= body.length;
    pieces.push(data(id, body.subarray(at, at + 16_384), isLast ? END_STREAM : 0));
  }
  return Buffer.concat(pieces);
}

/** A field of protobuf that holds bytes. */
export function bytesField(number: number, content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content);
  const length: number[] = [];
  for (let rest = bytes.length; length.length === 0 || rest > 0; rest = Math.floor(rest / 128))
    length.push((rest % 128) + (rest >= 128 ? 128 : 0));
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), bytes]);
}
