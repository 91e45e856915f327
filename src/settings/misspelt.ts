import { nearestName } from '../fields/names';
import { type Environment, isServiceLink } from '../platform/env-table/read-table';
import { SUBJECTS } from './tables';

/** A variable whose name resembles that of a setting. */
export interface Misspelt {
  readonly name: string;
  readonly meant: string;
}

const NAMES: readonly string[] = SUBJECTS.flatMap(({ settings }) =>
  settings.flatMap(({ name, aliases = [] }) => [name, ...aliases]),
).filter((name) => !name.includes('<'));

/** Set by today's deployments and read by no program, not even the reference. */
const IGNORED = 'GRPC_SERVER_TLS_CA_CERT';

const KNOWN = new Set([...NAMES, IGNORED]);

/** First words of our names; `HOST` and `PORT` are whole names: no other name begins with them. */
const PREFIXES = new Set(
  NAMES.filter((name) => name.includes('_')).map((name) => name.slice(0, name.indexOf('_') + 1)),
);

/** Names that Kubernetes derives from a Service: `REDIS_SERVICE_HOST`, `REDIS_PORT_6379_TCP_ADDR`. */
const SERVICE_NAME = /_SERVICE_(?:HOST|PORT(?:_.+)?)$|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_.+)?)?$/;

/** Names in the reference's README for settings that its code reads under other names, with those. */
const OF_THE_README: readonly (readonly [RegExp, string])[] = [
  [/^DOG_STATSD_MOGRIFIERS$/, 'USE_DOG_STATSD_MOGRIFIERS'],
  [/^DOG_STATSD_MOGRIFIERS_(.+_(?:PATTERN|NAME|TAGS))$/, 'DOG_STATSD_MOGRIFIER_$1'],
];

function meantName(name: string): string | undefined {
  const found = OF_THE_README.find(([pattern]) => pattern.test(name));
  if (found !== undefined) return name.replace(found[0], found[1]);
  const isOurs = PREFIXES.has(name.slice(0, name.indexOf('_') + 1));
  return isOurs ? nearestName(name, NAMES) : undefined;
}

export function misspeltText({ name, meant }: Misspelt): string {
  return `${name} is not a setting: did you mean ${meant}?`;
}

/**
 * Variables with one of our prefixes whose name is within two letters of a setting without being one. Names that Kubernetes derives
 * from Services do not count.
 */
export function findMisspelt(env: Environment): readonly Misspelt[] {
  const found: Misspelt[] = [];
  for (const [name, text] of Object.entries(env)) {
    if (text === undefined || KNOWN.has(name) || SERVICE_NAME.test(name)) continue;
    if (isServiceLink(name, text)) continue;
    const meant = meantName(name);
    if (meant !== undefined) found.push({ name, meant });
  }
  return found;
}
