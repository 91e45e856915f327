/** A value of the environment; undefined: it is in a secret, or elsewhere outside of the file. */
export type GivenValue = string | undefined;

/** A mounted directory or file of a container. */
export interface Mount {
  readonly path: string;
  /** Keys of a ConfigMap in the same file; undefined: its content is unknown. */
  readonly keys: readonly string[] | undefined;
  readonly isConfigMap: boolean;
  readonly isSubPath: boolean;
}

/** One container, service or environment that starts a rate limit service. */
export interface Workload {
  /** For messages: `Deployment "ratelimit", container "ratelimit"`. */
  readonly name: string;
  readonly env: ReadonlyMap<string, GivenValue>;
  /** The words after the program. */
  readonly words: readonly string[];
  /** Undefined: the file does not show the mounts. */
  readonly mounts: readonly Mount[] | undefined;
  /** More settings stand in other files. */
  readonly hasMoreSettings?: boolean;
}

/** The content of a deployment's file. */
export interface Deployment {
  readonly workloads: readonly Workload[];
  /** The omitted parts, with reasons, one line each. */
  readonly skipped: readonly string[];
}

/** Names that only the reference uses, among those that its deployments set. */
const OWN_NAMES = /^(?:RUNTIME_(?:ROOT|SUBDIRECTORY|WATCH_ROOT)|GRPC_PORT|CONFIG_GRPC_XDS_\w+)$/;

const OWN_IMAGE = /(?:^|[/_-])(?:ratelimit|rate-limit|weir)(?:[_-]service)?(?:[:@]|$)/i;
const OWN_PROGRAM = /(?:^|\/)ratelimit$/;
const SHELL = /(?:^|\/)(?:sh|bash|ash|dash|env|tini|dumb-init)$/;

/** Whether a container runs a rate limit service: by its image, its command or its settings. */
export function isRateLimitService(
  image: string,
  words: readonly string[],
  env: ReadonlyMap<string, GivenValue>,
): boolean {
  if (OWN_IMAGE.test(image) || words.some((word) => OWN_PROGRAM.test(word))) return true;
  return [...env.keys()].some((name) => OWN_NAMES.test(name));
}

/** The words after the program, which a composition repeats as the first one. Commands of a shell are not parsed. */
export function wordsAfterProgram(words: readonly string[]): readonly string[] {
  const [first = ''] = words;
  if (SHELL.test(first)) return [];
  return OWN_PROGRAM.test(first) ? words.slice(1) : words;
}

/** A value that the file itself contains: `${X}` of a composition and `$(X)` of Kubernetes refer to others. */
export function toGiven(value: unknown): GivenValue {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return undefined;
  return /\$[({A-Za-z_]/.test(value) ? undefined : value;
}

export type YamlFields = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is YamlFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown): YamlFields {
  return isMap(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The words of a command, from a list or a line. */
export function wordsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(/\s+/).filter((word) => word !== '');
  return listOf(value).map((word) => (typeof word === 'number' ? String(word) : textOf(word)));
}
