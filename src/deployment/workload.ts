/** A value of the environment; undefined: it stands in a secret, or elsewhere than in the file. */
export type GivenValue = string | undefined;

/** A directory or file that a container has from elsewhere. */
export interface Mount {
  readonly path: string;
  /** Keys of a ConfigMap that is in the same file; undefined: what it holds is not known. */
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
  /** Undefined: the file does not say what is mounted. */
  readonly mounts: readonly Mount[] | undefined;
  /** More settings stand in other files. */
  readonly hasMoreSettings?: boolean;
}

/** What a file of a deployment holds. */
export interface Deployment {
  readonly workloads: readonly Workload[];
  /** What was left out, and why, one line each. */
  readonly skipped: readonly string[];
}

/** Names that no other program has, of those that a deployment of the reference sets. */
const OWN_NAMES = /^(?:RUNTIME_(?:ROOT|SUBDIRECTORY|WATCH_ROOT)|GRPC_PORT|CONFIG_GRPC_XDS_\w+)$/;

const OWN_IMAGE = /(?:^|[/_-])(?:ratelimit|rate-limit|weir)(?:[_-]service)?(?:[:@]|$)/i;
const OWN_PROGRAM = /(?:^|\/)ratelimit$/;
const SHELL = /(?:^|\/)(?:sh|bash|ash|dash|env|tini|dumb-init)$/;

/** Whether a container is one of a rate limit service: by its image, its command or its settings. */
export function isRateLimitService(
  image: string,
  words: readonly string[],
  env: ReadonlyMap<string, GivenValue>,
): boolean {
  if (OWN_IMAGE.test(image) || words.some((word) => OWN_PROGRAM.test(word))) return true;
  return [...env.keys()].some((name) => OWN_NAMES.test(name));
}

/** The words after the program: a composition names it as its first one. What a shell runs is not looked into. */
export function wordsAfterProgram(words: readonly string[]): readonly string[] {
  const [first = ''] = words;
  if (SHELL.test(first)) return [];
  return OWN_PROGRAM.test(first) ? words.slice(1) : words;
}

/** A value that the file itself holds: `${X}` of a composition and `$(X)` of Kubernetes stand for others. */
export function toGiven(value: unknown): GivenValue {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return undefined;
  return /\$[({A-Za-z_]/.test(value) ? undefined : value;
}
