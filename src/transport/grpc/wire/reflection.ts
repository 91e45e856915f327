import { answerReflection } from '../reflection';
import { grpcStatus, StatusCode } from '../../../wire/grpc/status';
import { fail } from './should-rate-limit';
import type { Caller, ServedMethod } from './method';

/** ServerReflectionInfo for all connections; v1 and v1alpha have the same messages. */
export interface ReflectionMethod {
  readonly method: ServedMethod;
  /** Ends the streams that are open, and those to come. */
  close(): void;
}

const MALFORMED = grpcStatus(StatusCode.invalidArgument, 'not a valid ServerReflectionRequest');

export function createReflectionMethod(): ReflectionMethod {
  const open = new Map<Caller, Set<number>>();
  let closed = false;

  const forget = (caller: Caller, ticket: number) => {
    const own = open.get(caller);
    if (own?.delete(ticket) === true && own.size === 0) open.delete(caller);
  };

  const finish = (caller: Caller, ticket: number) => {
    forget(caller, ticket);
    caller.grpc.finish(ticket);
  };

  return {
    method: {
      requests: 'many',
      onMessage(caller, ticket, bytes, start, end) {
        open.set(caller, (open.get(caller) ?? new Set()).add(ticket));
        const answer = answerReflection(bytes.subarray(start, end));
        if (answer !== undefined) caller.grpc.send(ticket, answer);
        else {
          forget(caller, ticket);
          fail(caller, ticket, MALFORMED);
        }
        if (closed) finish(caller, ticket);
      },
      onHalfClose: finish,
      onCancel: finish,
    },
    close() {
      closed = true;
      for (const [caller, tickets] of open) {
        for (const ticket of tickets) finish(caller, ticket);
        caller.touch();
      }
    },
  };
}
