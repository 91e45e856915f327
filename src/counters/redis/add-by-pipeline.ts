import { type CounterBatch, type CounterReply, type Increment } from '../../core/ports';
import { isCount } from '../count';
import { planHoldBack } from '../hold-back';
import {
  createReplyDraft,
  fail,
  holdBackAt,
  type ReplyDraft,
} from '../../core/batches/reply-draft';
import { type RedisConnection } from './connection';
import { readByPipeline, sendAll, toKeys, type PlainCommand } from './pipeline';
import { atOnce, settleCount, type FollowUp } from './settle-count';
import { AnswerError, toHalfDone, toHalfDoneError, toNoCountError } from './store-errors';

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
