/** Every reason why a request gets no decision. Stable: transports map them to a status in one place each. */
export type FailureCode =
  /** The request makes no sense: empty domain, no descriptors, a unit that is none, an addend too large. */
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

/** What a store's error is about; what follows from it is decided elsewhere. */
export type StoreFault =
  /** The store: it is away, or did not answer in time. */
  | 'store'
  /** One node of a store of several: what lies on the others is counted. */
  | 'node'
  /** The store is there and answered with an error. */
  | 'answer'
  /** This increment alone: a key that the store does not take, a counter that would overflow. */
  | 'key'
  /** No store was asked: the circuit breaker is open. */
  | 'breaker';

export interface StoreErrorOptions extends ErrorOptions {
  /** `store` when nothing is said. */
  readonly fault?: StoreFault;
  /** See `StoreError`; a sentence that suits the code and the fault when nothing is said. */
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
 * What a counter store raises. Its message is for operators: it may hold the address and the words of the store, and
 * never a credential. `forCaller` holds neither.
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

/** What a call gives, or the StoreError with which it fails. */
export async function settled<T>(call: () => Promise<T>): Promise<T | StoreError> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
}
