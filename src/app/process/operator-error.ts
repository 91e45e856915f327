/** What ends a worker and would end the next one too: its message says what an operator can do. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
