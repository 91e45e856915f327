import { StoreError, type StoreFault } from '../../core/errors';
import { shorten } from '../../platform/errors';

/** `isOnly`: the node is the whole store; one unreachable node of several does not make the store unreachable. */
export function createNodeErrors(node: string, isOnly: () => boolean) {
  const away = (): StoreFault => (isOnly() ? 'store' : 'node');
  const unavailable = (message: string, fault: StoreFault): StoreError =>
    new StoreError('store_unavailable', message, { fault });
  return {
    node,
    timeout(timeoutMs: number) {
      const message = `memcached ${node} did not answer within ${String(timeoutMs)} ms`;
      return new StoreError('store_timeout', message, { fault: away() });
    },
    lost: (reason: string) =>
      unavailable(
        `the connection to memcached ${node} was lost before it had answered: ${reason}`,
        away(),
      ),
    unavailable: (reason: string) =>
      unavailable(`memcached ${node} is not available: ${reason}`, away()),
    answered: (answer: string) =>
      unavailable(`memcached ${node} answered: ${shorten(answer)}`, faultOf(answer)),
  };
}

export type NodeErrors = ReturnType<typeof createNodeErrors>;

/** CLIENT_ERROR concerns the command: a value that is not a number, a key that is not allowed. */
function faultOf(answer: string): StoreFault {
  return answer.startsWith('CLIENT_ERROR') ? 'key' : 'answer';
}

/** Throws unless the line is an error: replies would no longer match their commands. */
export function checkIsError(line: string, command: string): void {
  if (/^(?:ERROR|CLIENT_ERROR|SERVER_ERROR)\b/.test(line)) return;
  throw new Error(`unexpected reply to ${command}: ${shorten(line)}`);
}
