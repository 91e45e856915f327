import { answerReflection } from '../reflection';
import { grpcStatus, StatusCode } from '../../../wire/grpc/status';
import type { Client, MethodHandler } from './method-handler';

const MALFORMED = grpcStatus(StatusCode.invalidArgument, 'not a valid ServerReflectionRequest');

/** ServerReflectionInfo for all connections; v1 and v1alpha have the same messages. */
export function createReflectionMethod() {
  const open = new Map<Client, Set<number>>();
  let closed = false;

  const forget = (client: Client, callId: number) => {
    const own = open.get(client);
    if (own?.delete(callId) === true && own.size === 0) open.delete(client);
  };

  const finish = (client: Client, callId: number) => {
    forget(client, callId);
    client.grpc.finish(callId);
  };

  const method: MethodHandler = {
    requests: 'many',
    onMessage(client, callId, bytes, start, end) {
      open.set(client, (open.get(client) ?? new Set()).add(callId));
      const answer = answerReflection(bytes.subarray(start, end));
      if (answer !== undefined) client.grpc.send(callId, answer);
      else {
        forget(client, callId);
        client.grpc.fail(callId, MALFORMED);
      }
      if (closed) finish(client, callId);
    },
    onHalfClose: finish,
    onCancel: finish,
  };
  return {
    method,
    /** Ends all current and later streams. */
    close() {
      closed = true;
      for (const [client, callIds] of open) {
        for (const callId of callIds) finish(client, callId);
        client.scheduleFlush();
      }
    },
  };
}
