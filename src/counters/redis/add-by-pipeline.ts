import type { CounterBatch, CounterReply, Increment } from '../../core/ports';
import { isCount, type Count } from '../count';
import { planHoldBack } from '../hold-back';
import {
  createReplyDraft,
  fail,
  holdBackAt,
  type ReplyDraft,
} from '../../core/batches/reply-draft';
import type { RedisConnection } from './connection';
import { readByPipeline, sendAll, toKeys, type PlainCommand } from './pipeline';
import { AnswerError, toHalfDone, toHalfDoneError, toNoCountError } from './store-errors';

/** What is left to do for a key, and the index of the increment that requires it. */
export interface Left<T> {
  readonly what: T;
  readonly index: number;
}

/** Commands that the counts of the first round require, by key. */
interface FollowUp {
  /** By how much to raise keys that fell below 0. */
  readonly lifts: Map<string, Left<number>>;
  /** The rest of refunds. */
  readonly rests: Map<string, Left<bigint>>;
  /** Keys that were new although their time to live had been set before, with a new one. */
  readonly recreated: Map<string, Left<number>>;
}

/**
 * The part of a refund in the first INCRBY: more than any limit, and few enough that a negative answer is exact as a double, even
 * after several of them. The rest follows where the counter held more.
 */
const REFUND_AT_ONCE = 2 ** 48;

export function atOnce(hits: Count): Count {
  return hits < -REFUND_AT_ONCE ? -REFUND_AT_ONCE : hits;
}

interface Settling {
  readonly followUp: FollowUp;
  /** The keys that got an EXPIRE in the first round. */
  readonly expired: ReadonlySet<string | undefined>;
}

/** The count that an increment reports: the server's answer, as if the counter had stopped at 0 each time. */
function settleCount(
  { key, hits, ttlSeconds }: Increment,
  index: number,
  answer: number,
  { followUp: { lifts, rests, recreated }, expired }: Settling,
): number {
  const lifted = lifts.get(key)?.what ?? 0;
  const count = answer + lifted;
  const sent = atOnce(hits);
  if (count === Number(sent) && !expired.has(key)) recreated.set(key, { what: ttlSeconds, index });
  if (count < 0) {
    // Never more than was taken here: others raise what they took.
    const what = lifted + Math.min(-count, Math.max(0, -Number(sent)));
    lifts.set(key, { what, index });
    return 0;
  }
  if (sent === hits) return count;
  const rest = BigInt(sent) - BigInt(hits);
  rests.set(key, { what: (rests.get(key)?.what ?? 0n) + rest, index });
  return Math.max(0, count - Number(rest));
}

/** One command and the index of its increment in the batch. */
interface Step {
  readonly command: PlainCommand;
  readonly index: number;
}

interface FirstStep extends Step {
  readonly isExpire: boolean;
}

/**
 * Applies a batch by plain commands, for servers that do not run scripts. EXPIRE accompanies INCRBY unless this connection has set
 * the key's time to live before, so that no lost answer leaves a counter that never expires. Not atomic: other clients may come
 * between a read and the writes that depend on it. Failed increments, even all of them, are in the reply. `asking` uses slots that
 * are being moved to this node of a cluster.
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
    for (const [index, reading] of planHoldBack(batch, { counts })) {
      const failure = failures.get((increments[index] as Increment).key);
      holdBackAt(draft, index, reading);
      if (failure !== undefined) fail(draft, index, failure);
    }
  }
  const steps = planSteps(connection, increments, draft);
  const answers = await sendAll(
    connection.client,
    steps.map(({ command }) => command),
    asking,
  );
  const followUp: FollowUp = { lifts: new Map(), rests: new Map(), recreated: new Map() };
  const expired = new Set(steps.flatMap(({ isExpire, command }) => (isExpire ? [command[1]] : [])));
  steps.forEach((step, at) => {
    const { index, isExpire } = step;
    const [error, value] = answers[at] ?? [null];
    const increment = increments[index] as Increment;
    if (error !== null) {
      if (isExpire) failCounted(connection, draft, step, error);
      else fail(draft, index, connection.toError(error));
    } else if (isExpire) connection.expiring.add(increment.key);
    else if (typeof value !== 'number' || !isCount(Math.abs(value)))
      fail(draft, index, toNoCountError(connection.store, value));
    else draft.after[index] = settleCount(increment, index, value, { followUp, expired });
  });
  await follow(connection, followUp, draft, asking);
  return { after: draft.after, held: draft.held, failures: draft.failures };
}

function planSteps(
  connection: RedisConnection,
  increments: readonly Increment[],
  { held }: ReplyDraft,
): FirstStep[] {
  const expiring = new Set<string>();
  const steps: FirstStep[] = [];
  increments.forEach(({ key, hits, ttlSeconds }, index) => {
    if (held?.[index] === true) return;
    steps.push({ command: ['incrby', key, String(atOnce(hits))], index, isExpire: false });
    if (expiring.has(key) || connection.expiring.has(key)) return;
    expiring.add(key);
    steps.push({ command: ['expire', key, String(ttlSeconds)], index, isExpire: true });
  });
  return steps;
}

/** Sends the commands that the first round requires; returns the number of increments that fail here. */
async function follow(
  connection: RedisConnection,
  { lifts, rests, recreated }: FollowUp,
  draft: ReplyDraft,
  asking: boolean,
): Promise<void> {
  if (lifts.size === 0 && rests.size === 0 && recreated.size === 0) return;
  const failing = async (steps: readonly Step[]): Promise<readonly unknown[]> => {
    const commands = steps.map(({ command }) => command);
    const answers = await sendAll(connection.client, commands, asking);
    return steps.map((step, at) => {
      const [error, value] = answers[at] ?? [null];
      if (error !== null) failCounted(connection, draft, step, error);
      return value;
    });
  };
  const ttls = [...recreated].map(([key, { index }]): Step => ({ index, command: ['ttl', key] }));
  const gets = [...rests].map(([key, { index }]): Step => ({ index, command: ['get', key] }));
  const lifting = [...lifts].map(([key, { what, index }]): Step => {
    return { index, command: ['incrby', key, String(what)] };
  });
  const answers = await failing([...ttls, ...gets, ...lifting]);
  const last: Step[] = [];
  [...recreated].forEach(([key, { what, index }], at) => {
    if (!(Number(answers[at]) >= 0)) last.push({ index, command: ['expire', key, String(what)] });
  });
  [...rests].forEach(([key, { what, index }], at) => {
    const by = toRefund(answers[ttls.length + at], what);
    if (by > 0n) last.push({ index, command: ['incrby', key, String(-by)] });
  });
  await failing(last);
}

/** How much of a refund this stored value can absorb. */
function toRefund(text: unknown, rest: bigint): bigint {
  const held = typeof text === 'string' && /^\d+$/.test(text) ? BigInt(text) : 0n;
  return held < rest ? held : rest;
}

/** Fails an increment whose INCRBY was applied, but not the command that must follow it. */
function failCounted(
  connection: RedisConnection,
  draft: ReplyDraft,
  { index, command }: Step,
  error: Error,
): void {
  if (draft.failures?.has(index) === true) return;
  const refusal = connection.toError(error);
  const count = draft.after[index] ?? 0;
  if (!(refusal instanceof AnswerError)) fail(draft, index, refusal);
  // Only a node of a cluster names another node that exists.
  else if (connection.scripts.isDeclaringKeys)
    fail(draft, index, toHalfDoneError(connection.store, refusal.answer));
  else fail(draft, index, toHalfDone(refusal, { count, left: command }));
}
