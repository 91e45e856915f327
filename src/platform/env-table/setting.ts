/** Turns the text of one environment variable into a value. */
export interface Parser<T> {
  /** Completes the sentence "expected …". */
  readonly expected: string;
  /** The value; undefined when the text is invalid. */
  parse(text: string): T | undefined;
}

export interface Description {
  /** One line for the help and the settings page. */
  readonly doc: string;
  /** The default as an operator would write it. Without one the value is undefined. */
  readonly default?: string;
  /** The behaviour without a default, for the help: `a random UUID`. */
  readonly whenUnset?: string;
  readonly aliases?: readonly string[];
  /** The value never appears in a message. */
  readonly secret?: boolean;
  /** An empty string is a value of its own; otherwise it counts as not set. */
  readonly emptyIsValue?: boolean;
  /**
   * Accepted for old deployments; has no effect. `silent`: the manifests of existing deployments usually set it, so that its use is
   * not a warning.
   */
  readonly deprecated?: 'warned' | 'silent';
}

export interface Setting<T> extends Description {
  readonly name: string;
  readonly parser: Parser<unknown>;
  /** For the type system only: the type of this setting's value. */
  readonly type?: T;
}

export type Table = Readonly<Record<string, Setting<unknown>>>;

export type Values<T extends Table> = {
  readonly [K in keyof T]: T[K] extends Setting<infer V> ? V : never;
};

export function setting<T>(
  name: string,
  parser: Parser<T>,
  description: Description & { readonly default: string },
): Setting<T>;
export function setting<T>(
  name: string,
  parser: Parser<T>,
  description: Description,
): Setting<T | undefined>;
export function setting<T>(name: string, parser: Parser<T>, description: Description): Setting<T> {
  return { ...description, name, parser };
}
