import { answerReflection } from '../reflection';
import { grpcStatus, StatusCode } from '../../../wire/grpc/status';
import type { Client, MethodHandler } from './method-handler';

/** ServerReflectionInfo for all connections; v1 and v1alpha have the same messages. */
export interface ReflectionMethod {
  readonly method: MethodHandler;
  /** Ends the streams that are open, and those to come. */
  close(): void;
}

const MALFORMED = grpcStatus(StatusCode.invalidArgument, 'not a valid ServerReflectionRequest');

export function createReflectionMethod(): ReflectionMethod {
  const open = new Map<Client, Set<number>>();
  let closed = false;

  const forget = (client: Client, ticket: number) => {
    const own = open.get(client);
    if (own?.delete(ticket) === true && own.size === 0) open.delete(client);
  };

  const finish = (client: Client, ticket: number) => {
    forget(client, ticket);
    client.grpc.finish(ticket);
  };

  return {
    method: {
      requests: 'many',
      onMessage(client, ticket, bytes, start, end) {
        open.set(client, (open.get(client) ?? new Set()).add(ticket));
        const answer = answerReflection(bytes.subarray(start, end));
        if (answer !== undefined) client.grpc.send(ticket, answer);
        else {
          forget(client, ticket);
          client.grpc.fail(ticket, MALFORMED);
        }
        if (closed) finish(client, ticket);
      },
      onHalfClose: finish,
      onCancel: finish,
    },
    close() {
      closed = true;
      for (const [client, tickets] of open) {
        for (const ticket of tickets) finish(client, ticket);
        client.scheduleFlush();
      }
    },
  };
}
