import { type StoreError } from '../../core/errors';
import { type CounterBatch, type CounterReply, type Increment } from '../../core/ports';
import { createReplyDraft, failedReply, finish, scatter } from '../../core/batches/reply-draft';
import {
  encodeOperationsCall,
  readOperationsAnswer,
  type OperationsCall,
  type OperationsReply,
} from './operations-call';
import { type RedisConnection } from './connection';
import { type Sending } from './pipeline';
import { readBudgetAnswer } from './budgets/budget-answer';
import { encodeBudgetCall } from './budgets/budget-call';
import { BUDGETS_SCRIPT, OPERATIONS_SCRIPT, type Script } from './lua/scripts';
import { readAnswer, runScript, scriptRefusal, toFailure } from './add-by-script';
import { type ScriptArguments } from './script-call';
import { isAboutKeys, toNeedsScriptsError, toUnreadError } from './store-errors';

/** A script for kinds that read first. */
interface OperationScript {
  readonly script: Script;
  readonly encode: (call: OperationsCall) => ScriptArguments;
  readonly read: (answer: unknown, increments: OperationsCall['increments']) => OperationsReply;
}

/** Supports all kinds of the table. */
export const OF_KINDS: OperationScript = {
  script: OPERATIONS_SCRIPT,
  encode: encodeOperationsCall,
  read: readOperationsAnswer,
};

/** Supports budgets too, and increments whose refusals hold back no other. */
export const OF_BUDGETS: OperationScript = {
  script: BUDGETS_SCRIPT,
  encode: encodeBudgetCall,
  read: readBudgetAnswer,
};

/**
 * Applies a batch by a script for kinds that read first, which plain commands cannot count. Failed increments, even all of them,
 * are in the reply; rejects with a StoreError when the call failed as a whole.
 */
export async function applyOperations(
  connection: RedisConnection,
  batch: CounterBatch,
  { withoutScripts = false, asking = false }: Sending,
  script: OperationScript,
): Promise<CounterReply> {
  const { increments } = batch;
  if (!connection.usesScripts) return refuse(connection, increments);
  if (withoutScripts || asking) return addEach(connection, batch, script, asking);
  const { isDeclaringKeys } = connection.scripts;
  try {
    return await callScript(connection, { ...batch, isDeclaringKeys, asking, script });
  } catch (error) {
    const refusal = scriptRefusal(error);
    if (refusal === undefined) throw connection.toError(error);
    if (isAboutKeys(refusal)) return addEach(connection, batch, script, false);
    connection.refuseScripts(refusal);
    return refuse(connection, increments);
  }
}

function refuse({ store }: RedisConnection, increments: readonly Increment[]): CounterReply {
  return failedReply(increments, toNeedsScriptsError(store));
}

/** One call per key, which declares it: the server then says where the key is, or that it may not be used. */
async function addEach(
  connection: RedisConnection,
  { increments, nowSeconds }: CounterBatch,
  script: OperationScript,
  asking: boolean,
): Promise<CounterReply> {
  const alone = { groupEnds: undefined, nowSeconds, isDeclaringKeys: true, asking, script };
  const replies = increments.map(async (increment) => {
    const call = { ...alone, increments: [increment] };
    try {
      return await callScript(connection, call);
    } catch (error) {
      return connection.toError(error);
    }
  });
  const draft = createReplyDraft(increments.length);
  (await Promise.all(replies)).forEach((reply, index) => {
    scatter(draft, [index], reply);
  });
  return finish(draft);
}

interface Call extends OperationsCall {
  readonly script: OperationScript;
  readonly asking: boolean;
}

/** Rejects with the error of the client or the server for the call as a whole. */
async function callScript(connection: RedisConnection, call: Call): Promise<CounterReply> {
  const { script, encode } = call.script;
  const { client, clock } = connection;
  const sentSeconds = clock?.();
  const answer = await runScript(client, script, encode(call), call.asking);
  const reply = readReply(connection, readAnswer(connection, answer), call);
  connection.onAnswered(reply, sentSeconds);
  return { ...reply, failures: toFailures(connection, reply.failures) };
}

function readReply(
  { store }: RedisConnection,
  answer: unknown,
  { increments, script }: Call,
): OperationsReply {
  try {
    return script.read(answer, increments);
  } catch (error) {
    throw toUnreadError(store, error);
  }
}

function toFailures(
  connection: RedisConnection,
  texts: ReadonlyMap<number, string> | undefined,
): ReadonlyMap<number, StoreError> | undefined {
  if (texts === undefined) return undefined;
  return new Map([...texts].map(([index, text]) => [index, toFailure(connection, text)]));
}
