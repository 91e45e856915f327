/** Every reason why a request gets no decision. Stable: transports map them to a status in one place each. */
export type FailureCode =
  /** An invalid request: empty domain, no descriptors, an unknown unit, an addend too large. */
  | 'invalid_request'
  /** No rules are loaded yet. */
  | 'no_rules'
  /** The counter store cannot be reached or answers with an error. */
  | 'store_unavailable'
  /** The counter store did not answer within its time-out. */
  | 'store_timeout'
  /** The service is stopping and accepts no more requests. */
  | 'draining'
  /** A fault of ours. */
  | 'internal';

/** The answer to a request that got no decision. */
export interface Failure {
  readonly kind: 'failure';
  readonly code: FailureCode;
  /** A lowercase sentence that names the thing and the value; safe to send to the caller. */
  readonly message: string;
}

export function failure(code: FailureCode, message: string): Failure {
  return { kind: 'failure', code, message };
}

/** The scope of a store's error; other code decides what follows from it. */
export type StoreFault =
  /** The whole store: it is unreachable, or did not answer in time. */
  | 'store'
  /** One node of a store with several: counters on the other nodes are counted. */
  | 'node'
  /** The store answered with an error. */
  | 'answer'
  /** One increment: a key that the store rejects, a counter that would overflow. */
  | 'key'
  /** The store was not called: the circuit breaker is open. */
  | 'breaker';

export interface StoreErrorOptions extends ErrorOptions {
  /** Default: `store`. */
  readonly fault?: StoreFault;
  /** See `StoreError`; default: a sentence for the code and the fault. */
  readonly forCaller?: string;
}

const FOR_CALLER: Readonly<Record<StoreFault, string>> = {
  store: 'the counter store cannot be reached',
  node: 'the counter store cannot be reached',
  answer: 'the counter store answered with an error',
  key: 'the counter store cannot count under this key',
  breaker: 'circuit breaker open, counter store not called',
};

/**
 * Raised by counter stores. Its message is for operators: it may hold the address and the words of the store, never a credential.
 * `forCaller` holds neither.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: 'store_unavailable' | 'store_timeout';
  readonly fault: StoreFault;
  readonly forCaller: string;
  constructor(code: StoreError['code'], message: string, options: StoreErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.fault = options.fault ?? 'store';
    this.forCaller = options.forCaller ?? toCallerText(code, this.fault);
  }
}

function toCallerText(code: StoreError['code'], fault: StoreFault): string {
  return code === 'store_timeout' ? 'the counter store did not answer in time' : FOR_CALLER[fault];
}

/** The result of a call, or the StoreError with which it failed. */
export async function settled<T>(call: () => Promise<T>): Promise<T | StoreError> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
}
