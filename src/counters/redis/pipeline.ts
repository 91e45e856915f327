import { type Redis } from 'ioredis';
import type { StoreError } from '../../core/errors';
import type { Increment } from '../../core/ports';
import { isCount } from '../count';
import type { RedisConnection } from './connection';
import { NO_INTEGER } from './store-errors';

export type PlainCommand = [name: string, ...args: string[]];
type Answer = readonly [error: Error | null, value?: unknown];

/** Current counts; keys whose count or time to live cannot be read are missing there and have an error instead. */
export interface ReadCounts {
  readonly counts: ReadonlyMap<string, number>;
  /** Milliseconds to live per key, if requested; keys that never expire or do not exist are missing. */
  readonly livesMs: ReadonlyMap<string, number>;
  readonly failures: ReadonlyMap<string, StoreError>;
}

export interface ReadOptions {
  readonly asking?: boolean;
  /** Whether to read the time to live of each key too. */
  readonly withLives?: boolean;
}

/** Reads counters; a missing key counts 0. */
export async function readByPipeline(
  connection: RedisConnection,
  keys: readonly string[],
  { asking = false, withLives = false }: ReadOptions = {},
): Promise<ReadCounts> {
  const gets = keys.map((key): PlainCommand => ['get', key]);
  const lives = withLives ? keys.map((key): PlainCommand => ['pttl', key]) : [];
  const answers = await sendAll(connection.client, [...gets, ...lives], asking);
  const counts = new Map<string, number>();
  const livesMs = new Map<string, number>();
  const failures = new Map<string, StoreError>();
  keys.forEach((key, at) => {
    const [wrong, value] = answers[at] ?? [null];
    const [wrongLife, life] = answers[keys.length + at] ?? [null];
    const error = wrong ?? wrongLife;
    const count = toCount(value);
    const lifeMs = Number(life);
    if (lifeMs >= 0) livesMs.set(key, lifeMs);
    if (error !== null) failures.set(key, connection.toError(error));
    else if (count === undefined) failures.set(key, connection.toAnswerError(NO_INTEGER));
    else counts.set(key, count);
  });
  return { counts, livesMs, failures };
}

/** A count as INCRBY reads it: a negative one as 0, to which it is raised. Undefined when it is not an integer. */
function toCount(value: unknown): number | undefined {
  if (value === null || value === undefined) return 0;
  if (typeof value !== 'string' || !/^-?\d+$/.test(value)) return undefined;
  const count = Math.max(0, Number(value));
  return isCount(count) ? count : undefined;
}

export function toKeys(increments: readonly Increment[]): readonly string[] {
  return [...new Set(increments.map(({ key }) => key))];
}

/** Sends commands in order and returns their answers; rejects with the StoreError of the first that failed. */
export async function sendByPipeline(
  connection: RedisConnection,
  commands: readonly PlainCommand[],
  asking = false,
): Promise<readonly unknown[]> {
  const answers = await sendAll(connection.client, commands, asking);
  return commands.map((_, at) => {
    const [error, value] = answers[at] ?? [new Error('no answer')];
    if (error !== null) throw connection.toError(error);
    return value;
  });
}

/** One write for all; an answer for each, also when the connection is lost meanwhile. */
export async function sendAll(
  client: Redis,
  commands: readonly PlainCommand[],
  asking: boolean,
): Promise<readonly Answer[]> {
  if (commands.length === 0) return [];
  if (!asking) return (await client.pipeline([...commands]).exec()) ?? [];
  const pairs = commands.flatMap((command): (readonly string[])[] => [['asking'], command]);
  const answers = (await client.pipeline(pairs as string[][]).exec()) ?? [];
  return answers.filter((_, at) => at % 2 === 1);
}

/** How to send a batch. */
export interface Sending {
  /** By plain commands, whose answers say where a key of a cluster is. */
  readonly withoutScripts?: boolean;
  /** For slots of a cluster that are being moved to this node. Implies `withoutScripts`. */
  readonly asking?: boolean;
}
