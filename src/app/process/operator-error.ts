/** An error that ends a worker and would end the next one too: its message tells an operator what to do. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
