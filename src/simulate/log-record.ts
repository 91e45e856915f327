import type { DecisionRequest } from '../core/model';

/** One request of a log: when it came, and what the proxy asked the service. */
export interface LogRecord {
  /** Unix seconds, with fraction. */
  readonly timeSeconds: number;
  readonly request: DecisionRequest;
}

/** A line that is not a request: why, in words that can follow "line 12: ". */
export class UnreadableLine extends Error {
  override readonly name = 'UnreadableLine';
}

/**
 * Reads one line. Undefined: the line is fine and asks for nothing, as where every descriptor of a map drops out. Throws
 * `UnreadableLine`.
 */
export type ReadRecord = (line: string) => LogRecord | undefined;
