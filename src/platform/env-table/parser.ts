/** Turns the text of one environment variable into a value. */
export interface Parser<T> {
  /** Completes the sentence "expected …". */
  readonly expected: string;
  /** The value; undefined when the text is not what was expected. */
  parse(text: string): T | undefined;
}
