import { errorCode } from './errors';

/** 128 and SIGPIPE, which Node ignores: what shells see of a command whose reader has gone. */
const READER_GONE = 141;

/**
 * Ends a command that prints when its output is read no more (`… | head -1`), without a word, as other commands end. Services do
 * not: what they print is a greeting.
 */
export function endWithReader({ stdout, exit }: Pick<NodeJS.Process, 'stdout' | 'exit'>): void {
  stdout.on('error', (error) => {
    if (errorCode(error) !== 'EPIPE') throw error;
    exit(READER_GONE);
  });
}
