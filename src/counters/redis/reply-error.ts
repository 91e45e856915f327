import { ReplyError } from 'ioredis';

/** Whether a server answered with this error; otherwise the connection or the client failed. */
export function isReplyError(error: unknown): error is Error {
  return error instanceof (ReplyError as typeof Error);
}
