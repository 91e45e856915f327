import { posix } from 'node:path';
import { nameArguments } from '../platform/flags';
import { deploysBySettings, findMisspelt, misspeltText } from '../settings/tables';
import { readSettings } from '../settings/settings';
import type { GivenValue, Workload, Mount } from './workload';

/** Names in existing deployments, with their present counterparts. */
const TWINS: readonly (readonly [RegExp, string])[] = [
  [/^KVSTORE_/, 'REDIS_'],
  [/^MEMSTORE_/, 'MEMCACHE_'],
  [/^(USE_)?PULLMETRICS/, '$1PROMETHEUS'],
  [/^(USE_)?TAGGED_STATSD/, '$1DOG_STATSD'],
];

/** Settings whose values may hold a secret, or a part of one. */
const MAY_BE_SECRET = /AUTH|URL|HEADERS|PASS|SECRET|TOKEN|KEY|ENDPOINT|HOST_PORT|TAGS|METADATA/;

const NAME_AND_VALUE = /\b([A-Z][A-Z0-9_]*)="(?:[^"\\]|\\.)*"/g;

/** Placeholder for an address that the file does not contain. */
const SOME_ADDRESS = 'elsewhere:6379';

/** A workload as the differences see it: settings have the names that the reference reads. */
export interface Facts {
  readonly workload: Workload;
  /** Whether it is set and not empty. */
  readonly has: (name: string) => boolean;
  /** Undefined: not set, empty, or unknown. */
  readonly value: (name: string) => string | undefined;
  readonly isTrue: (name: string) => boolean;
  readonly isFalse: (name: string) => boolean;
  readonly backend: 'redis' | 'memcache' | 'none';
  readonly readsFiles: boolean;
  /** `/data/ratelimit/config`: the directory of rule files, and its parent. */
  readonly directory: string;
  readonly above: string;
  /** Names with an empty value. */
  readonly empty: readonly string[];
  /** The service's problems with these settings. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Calls `onUnsure` whenever a fact is read that depends on a setting which other files may have. */
export function toFacts(workload: Workload, onUnsure: () => void = () => undefined): Facts {
  const env = new Map<string, GivenValue>();
  for (const [name, value] of workload.env) env.set(formerName(name), value);
  const has = (name: string) => {
    if (!env.has(name) && workload.hasMoreSettings === true) onUnsure();
    return env.has(name) && env.get(name) !== '';
  };
  const value = (name: string) => {
    const isSet = has(name);
    if (isSet && env.get(name) === undefined) onUnsure();
    return isSet ? env.get(name) : undefined;
  };
  const above = () =>
    posix.join(
      value('RUNTIME_ROOT') ?? '/srv/runtime_data/current',
      value('RUNTIME_SUBDIRECTORY') ?? '',
    );
  // An empty one is a value of its own.
  const below = () => (env.get('RUNTIME_APPDIRECTORY') === '' ? '' : value('RUNTIME_APPDIRECTORY'));
  return {
    workload,
    has,
    value,
    isTrue: (name) => /^(?:1|t|true)$/i.test(value(name) ?? ''),
    isFalse: (name) => /^(?:0|f|false)$/i.test(value(name) ?? ''),
    get backend() {
      return backendOf(env, { has, value });
    },
    get readsFiles() {
      return (value('CONFIG_TYPE') ?? 'FILE') === 'FILE';
    },
    get directory() {
      return posix.join(above(), below() ?? 'config');
    },
    get above() {
      return above();
    },
    empty: [...workload.env].filter(([, each]) => each === '').map(([name]) => name),
    ...withArguments(workload, readAs(workload.env)),
  };
}

function formerName(name: string): string {
  const twin = TWINS.find(([pattern]) => pattern.test(name));
  return twin === undefined ? name : name.replace(...twin);
}

function backendOf(
  env: Workload['env'],
  { has, value }: Pick<Facts, 'has' | 'value'>,
): Facts['backend'] {
  const ADDRESSES = ['REDIS_URL', 'MEMCACHE_HOST_PORT', 'MEMCACHE_SRV'];
  // Who names a store's address here hardly names its kind elsewhere.
  const isSure = !env.has('BACKEND_TYPE') && ADDRESSES.some((name) => env.has(name));
  const type = isSure ? undefined : value('BACKEND_TYPE')?.toLowerCase();
  if (type !== undefined)
    return /^mem(?:cache|store)$/.test(type) ? 'memcache' : type === 'memory' ? 'none' : 'redis';
  if (has('REDIS_URL')) return 'redis';
  return has('MEMCACHE_HOST_PORT') || has('MEMCACHE_SRV') ? 'memcache' : 'none';
}

/** Without a setting for the location of rules or counters, unknown arguments end the start. */
function withArguments({ words, env }: Workload, diagnostics: ReturnType<typeof readAs>) {
  const deploys = deploysBySettings(
    Object.fromEntries([...env].map(([name, value]) => [name, value ?? SOME_ADDRESS])),
  );
  if (words.length === 0 || deploys) return diagnostics;
  const problem = `unknown arguments (${nameArguments(words)}), and no setting says where rules or counters are`;
  return { ...diagnostics, problems: [problem, ...diagnostics.problems] };
}

/** Problems of settings with known values; the others are assumed to be valid. */
function readAs(env: Workload['env']) {
  const unknown = [...env].filter(([, value]) => value === undefined).map(([name]) => name);
  const known: Record<string, string> = {};
  for (const [name, value] of env) {
    if (value !== undefined) known[name] = value;
    else if (/(?:URL|HOST_PORT)$/.test(name)) known[name] = SOME_ADDRESS;
  }
  const read = readSettings(known);
  const isKnown = (line: string) => !unknown.some((name) => line.includes(name));
  const problems = read.ok
    ? []
    : read.problems.filter((line) => !line.includes('is not a setting'));
  return {
    problems: problems.filter(isKnown).map(withoutSecrets),
    warnings: warningsOf(known, problems).filter(isKnown).map(withoutSecrets),
  };
}

/** Includes warnings, which the service omits where it refuses a start: those of all settings that it does not refuse. */
function warningsOf(
  known: Readonly<Record<string, string>>,
  problems: readonly string[],
): readonly string[] {
  const others = Object.entries(known).filter(
    ([name]) => !problems.some((line) => line.includes(name)),
  );
  const read = readSettings(Object.fromEntries(others));
  const misspelt = findMisspelt(known).map(misspeltText);
  return [...new Set([...misspelt, ...(read.ok ? read.warnings : [])])];
}

/** A message without the values of settings that may contain a secret. */
export function withoutSecrets(text: string): string {
  return text.replace(NAME_AND_VALUE, (whole, name: string) =>
    MAY_BE_SECRET.test(name) ? `${name} (value not shown)` : whole,
  );
}

function mountsOf({ workload, directory }: Facts): readonly Mount[] {
  return (workload.mounts ?? []).filter(({ path }) => isWithin(directory, path));
}

/** Whether a directory is, or is inside, the mount at a path. */
function isWithin(directory: string, path: string): boolean {
  const at = posix.join(path, '/');
  return posix.join(directory, '/').startsWith(at);
}

/** A ConfigMap whose hidden directory the reference reads too. */
export function findTwice(facts: Facts): string | undefined {
  const { readsFiles, directory, isTrue } = facts;
  if (!readsFiles || isTrue('RUNTIME_IGNOREDOTFILES')) return undefined;
  const isTwice = mountsOf(facts).some(
    ({ path, isConfigMap, isSubPath }) =>
      isConfigMap && !isSubPath && posix.join(path, '/') === posix.join(directory, '/'),
  );
  return isTwice
    ? `a ConfigMap is mounted at ${directory}: the reference reads every file twice without RUNTIME_IGNOREDOTFILES=true, and refuses them; here they are read once`
    : undefined;
}

/** Rules without a mount. */
export function findNoMount(facts: Facts): string | undefined {
  const { readsFiles, workload, directory, above } = facts;
  if (!readsFiles || workload.mounts === undefined) return undefined;
  const isThere = workload.mounts.some(
    ({ path }) => isWithin(above, path) || isWithin(path, above),
  );
  return isThere
    ? undefined
    : `nothing is mounted at ${directory} or around it: unless the image has rules there, the service is not ready`;
}

/** Keys of a ConfigMap that this service does not read. */
export function findLeftOut(facts: Facts): string | undefined {
  if (!facts.readsFiles) return undefined;
  const keys = mountsOf(facts).flatMap((mount) => mount.keys ?? []);
  const left = keys.filter(
    (key) => /~$|\.md$/.test(key) || (key.startsWith('.') && !/\.ya?ml$/.test(key)),
  );
  return left.length === 0 ? undefined : `not read here: ${left.slice(0, 10).join(', ')}`;
}
