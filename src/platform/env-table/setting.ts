/** Turns the text of one environment variable into a value. */
export interface Parser<T> {
  /** Completes the sentence "expected …". */
  readonly expected: string;
  /** The value; undefined when the text is invalid. */
  parse(text: string): T | undefined;
}

/** The last column of a row. */
export interface Description {
  /** One line for the help and the settings page. */
  readonly doc: string;
  readonly aliases?: readonly string[];
  /** The value never appears in a message. */
  readonly secret?: boolean;
  /** An empty string is a value of its own; otherwise it counts as not set. */
  readonly emptyIsValue?: boolean;
  /** Accepted for old deployments, with a warning; has no effect. */
  readonly isDeprecated?: true;
}

/** One row: everything that the reading, the messages, the help and the page know of a setting. */
export interface Setting<T> extends Description {
  readonly name: string;
  readonly parser: Parser<T>;
  /** As an operator would write it. Undefined: without the setting there is no value. */
  readonly default: string | undefined;
  /** In words what applies without a default: `a random UUID`. */
  readonly whenUnset: string;
  readonly aliases: readonly string[];
}

export type Table = Readonly<Record<string, Setting<unknown>>>;

export type Values<T extends Table> = {
  readonly [K in keyof T]: T[K] extends Setting<infer V> ? V : never;
};
