import type { DecisionRequest } from '../core/model';

/** One request of a log: its time, and the proxy's request to the service. */
export interface LogRecord {
  /** Unix seconds, with fraction. */
  readonly timeSeconds: number;
  readonly request: DecisionRequest;
}

/** A line that is not a request: the reason, in words that can follow "line 12: ". */
export class UnreadableLine extends Error {
  override readonly name = 'UnreadableLine';
}

/**
 * Reads one line. Undefined: the line is valid but makes no request, as where every descriptor of a map drops out. Throws
 * `UnreadableLine`.
 */
export type ReadRecord = (line: string) => LogRecord | undefined;
