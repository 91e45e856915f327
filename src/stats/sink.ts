/** Where a push output writes. One `send` at a time. */
export interface Sink {
  /** The place, for messages: `tcp://localhost:8125`. */
  readonly name: string;
  /** Most bytes of one `send`; a longer single line comes alone. */
  readonly maxBytes: number;
  /**
   * Hands lines (joined by newlines, none at the end) on. Resolves once they are taken, rejects when
   * they are not or when the signal aborts; the next `send` starts afresh. Holds nothing back.
   */
  send(lines: string, signal: AbortSignal): Promise<void>;
  /** The end of a flush: lets go of what is opened anew for each. */
  rest(): void;
  close(): void;
}
