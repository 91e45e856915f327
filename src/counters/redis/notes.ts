import type { RedisCounters } from './options';

/** A note that an instance writes beside its counters for other instances to compare. */
export interface VersionNote {
  readonly key: string;
  /** Versions of the data that it uses; none contains a space. */
  readonly versions: readonly string[];
  /** How long a note counts without being renewed. */
  readonly ttlSeconds: number;
}

/** Further entries were not written by an instance. */
const MAX_VERSIONS = 32;
const ENTRY = /^([^\s@]{1,64})@(\d{1,12})$/;

/**
 * Writes the versions and returns all that instances have written within the time to live, by the clock of the store:
 * `2025c@1795812345 2026f@1795812350`. Of two concurrent writes one may be lost until it is renewed. Rejects with a StoreError.
 */
export async function noteVersions(
  counters: Pick<RedisCounters, 'send'>,
  { key, versions, ttlSeconds }: VersionNote,
): Promise<readonly string[]> {
  const [time, text] = await counters.send(key, [['time'], ['get', key]]);
  const now = Number((time as readonly unknown[])[0]);
  const noted = new Map<string, number>();
  for (const entry of typeof text === 'string' ? text.split(' ', MAX_VERSIONS) : []) {
    const [, version, second] = ENTRY.exec(entry) ?? [];
    const isFresh = Math.abs(now - Number(second)) < ttlSeconds;
    if (version !== undefined && isFresh) noted.set(version, Number(second));
  }
  for (const version of versions) noted.set(version, now);
  const written = [...noted].map(([version, second]) => `${version}@${String(second)}`).join(' ');
  await counters.send(key, [['set', key, written, 'EX', String(ttlSeconds)]]);
  return [...noted.keys()].sort();
}

/** A text under a key that the first of several instances writes. */
export interface Claim {
  readonly key: string;
  readonly text: string;
  /** Time to live, renewed by each instance that claims the same text. */
  readonly ttlSeconds: number;
}

/** The text that the store holds under the key: this one if there was none. Rejects with a StoreError. */
export async function claimText(
  counters: Pick<RedisCounters, 'send'>,
  { key, text, ttlSeconds }: Claim,
): Promise<string> {
  const ttl = String(ttlSeconds);
  const [made, held] = await counters.send(key, [
    ['set', key, text, 'EX', ttl, 'NX'],
    ['get', key],
  ]);
  if (held === text && made === null) await counters.send(key, [['expire', key, ttl]]);
  return typeof held === 'string' ? held : text;
}
