import type { Server, ServerDuplexStream } from '@grpc/grpc-js';
import { REFLECTION_PATHS } from '../service';
import { answerReflection } from '../reflection';
import { grpcStatus, StatusCode } from '../../../wire/grpc/status';

type ReflectionCall = ServerDuplexStream<Buffer, Buffer>;

const MALFORMED = grpcStatus(StatusCode.invalidArgument, 'not a valid ServerReflectionRequest');

/** Registers the reflection service; the returned function ends the open calls. */
export function serveReflection(server: Server): () => void {
  const calls = new Set<ReflectionCall>();
  const handle = (call: ReflectionCall): void => {
    calls.add(call);
    call.once('cancelled', () => calls.delete(call));
    call.once('end', () => {
      calls.delete(call);
      call.end();
    });
    call.on('data', (request: Buffer) => {
      const answer = answerReflection(request);
      if (answer === undefined) call.emit('error', MALFORMED);
      else {
        // One request at a time: the next is read when this answer has left.
        call.pause();
        call.write(answer, () => call.resume());
      }
    });
  };
  for (const path of REFLECTION_PATHS) {
    server.register<Buffer, Buffer>(path, handle, asIs, asIs, 'bidi');
  }
  return () => {
    for (const call of calls) call.end();
    calls.clear();
  };
}

function asIs(bytes: Buffer): Buffer {
  return bytes;
}
