import { type Redis } from 'ioredis';
import { type StoreError } from '../../core/errors';
import { type CounterBatch, type CounterReply, type Increment } from '../../core/ports';
import { planHoldBack } from '../hold-back';
import { isCount } from '../count';
import { createReplyDraft, fail, holdBackAt, type ReplyDraft } from '../reply-draft';
import { type RedisConnection } from './connection';
import { NO_INTEGER, toNoCountError } from './store-errors';

export type PlainCommand = [name: string, ...args: string[]];
type Answer = readonly [error: Error | null, value?: unknown];

/** One command of the first round and the place of its increment in the batch. */
interface Step {
  readonly command: PlainCommand;
  readonly index: number;
  readonly isExpire: boolean;
}

/** What the counts of the first round call for. */
interface FollowUp {
  /** What keys that fell below 0 must be lifted by. */
  readonly corrections: Map<string, number>;
  /** Keys that were new although their time to live had been set before, with a new one. */
  readonly recreated: Map<string, number>;
}

/**
 * Applies a batch by plain commands, for servers that take no scripts. EXPIRE goes along with INCRBY
 * unless this connection has set the key's time to live before, so that no lost answer leaves a
 * counter that lives for ever. Not atomic: others may come between a read and what follows from it.
 * Increments that failed, be it all, are in the reply. `asking` uses slots that are still on their way
 * to this node of a cluster.
 */
export async function addByPipeline(
  connection: RedisConnection,
  batch: CounterBatch,
  asking = false,
): Promise<CounterReply> {
  const { increments } = batch;
  const draft = createReplyDraft(increments.length);
  if (batch.groupEnds !== undefined) {
    const { counts, failures } = await readByPipeline(connection, toKeys(increments), { asking });
    for (const [index, seen] of planHoldBack(batch, { counts })) {
      const failure = failures.get((increments[index] as Increment).key);
      holdBackAt(draft, index, seen);
      if (failure !== undefined) fail(draft, index, failure);
    }
  }
  const steps = planSteps(connection, increments, draft);
  const answers = await sendAll(
    connection.client,
    steps.map(({ command }) => command),
    asking,
  );
  const followUp: FollowUp = { corrections: new Map(), recreated: new Map() };
  const expired = new Set(steps.flatMap(({ isExpire, command }) => (isExpire ? [command[1]] : [])));
  steps.forEach(({ index, isExpire }, at) => {
    const [error, value] = answers[at] ?? [null];
    const increment = increments[index] as Increment;
    if (error !== null) fail(draft, index, connection.toError(error));
    else if (isExpire) connection.expiring.add(increment.key);
    else if (typeof value !== 'number' || !isCount(Math.abs(value)))
      fail(draft, index, toNoCountError(connection.store, value));
    else draft.after[index] = settleCount(increment, value, followUp, expired);
  });
  await follow(connection, followUp, asking);
  return { after: draft.after, held: draft.held, failures: draft.failures };
}

function planSteps(
  connection: RedisConnection,
  increments: readonly Increment[],
  { held }: ReplyDraft,
): Step[] {
  const expiring = new Set<string>();
  const steps: Step[] = [];
  increments.forEach(({ key, hits, ttlSeconds }, index) => {
    if (held?.[index] === true) return;
    steps.push({ command: ['incrby', key, String(hits)], index, isExpire: false });
    if (expiring.has(key) || connection.expiring.has(key)) return;
    expiring.add(key);
    steps.push({ command: ['expire', key, String(ttlSeconds)], index, isExpire: true });
  });
  return steps;
}

/** The count that an increment reports: what the server said, as if it had stopped at 0 each time. */
function settleCount(
  { key, hits, ttlSeconds }: Increment,
  said: number,
  { corrections, recreated }: FollowUp,
  expired: ReadonlySet<string | undefined>,
): number {
  const lifted = corrections.get(key) ?? 0;
  const count = said + lifted;
  if (count === Number(hits) && !expired.has(key)) recreated.set(key, ttlSeconds);
  if (count >= 0) return count;
  // Never more than was taken here: others lift what they took.
  corrections.set(key, lifted + Math.min(-count, Math.max(0, -Number(hits))));
  return 0;
}

/** Errors are left alone here: the counts are known, and the next batch meets the same server. */
async function follow(
  { client }: RedisConnection,
  { corrections, recreated }: FollowUp,
  asking: boolean,
): Promise<void> {
  if (corrections.size === 0 && recreated.size === 0) return;
  const keys = [...recreated.keys()];
  const lifting = [...corrections].map(([key, by]): PlainCommand => ['incrby', key, String(by)]);
  const asked = keys.map((key): PlainCommand => ['ttl', key]);
  const answers = await sendAll(client, [...asked, ...lifting], asking);
  const lasting = keys.filter((_, at) => !(Number(answers[at]?.[1]) >= 0));
  const expiring = lasting.map((key): PlainCommand => ['expire', key, String(recreated.get(key))]);
  await sendAll(client, expiring, asking);
}

/** Counts as they stand; keys that cannot be read are missing there and have an error instead. */
export interface ReadCounts {
  readonly counts: ReadonlyMap<string, number>;
  /** Milliseconds for which keys still live, where asked for; those that live for ever or do not exist are missing. */
  readonly livesMs: ReadonlyMap<string, number>;
  readonly failures: ReadonlyMap<string, StoreError>;
}

/** How counters are read. */
export interface Reading {
  readonly asking?: boolean;
  /** Whether the time to live of each key is asked for too. */
  readonly withLives?: boolean;
}

/** Reads counters; a key that does not exist counts 0. */
export async function readByPipeline(
  connection: RedisConnection,
  keys: readonly string[],
  { asking = false, withLives = false }: Reading = {},
): Promise<ReadCounts> {
  const gets = keys.map((key): PlainCommand => ['get', key]);
  const lives = withLives ? keys.map((key): PlainCommand => ['pttl', key]) : [];
  const answers = await sendAll(connection.client, [...gets, ...lives], asking);
  const counts = new Map<string, number>();
  const livesMs = new Map<string, number>();
  const failures = new Map<string, StoreError>();
  keys.forEach((key, at) => {
    const [error, value] = answers[at] ?? [null];
    const count = toCount(value);
    const lifeMs = Number(answers[keys.length + at]?.[1]);
    if (lifeMs >= 0) livesMs.set(key, lifeMs);
    if (error !== null) failures.set(key, connection.toError(error));
    else if (count === undefined) failures.set(key, connection.toAnswerError(NO_INTEGER));
    else counts.set(key, count);
  });
  return { counts, livesMs, failures };
}

/** A count as INCRBY takes it: below 0 it counts as 0, where it is lifted to. Undefined when it is not an integer. */
function toCount(value: unknown): number | undefined {
  if (value === null || value === undefined) return 0;
  if (typeof value !== 'string' || !/^-?\d+$/.test(value)) return undefined;
  const count = Math.max(0, Number(value));
  return isCount(count) ? count : undefined;
}

/** The keys of increments, each once. */
export function toKeys(increments: readonly Increment[]): readonly string[] {
  return [...new Set(increments.map(({ key }) => key))];
}

/** Sends commands in order and answers what they answered; rejects with the StoreError of the first that failed. */
export async function askByPipeline(
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
async function sendAll(
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
