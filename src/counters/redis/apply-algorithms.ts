import { type StoreError } from '../../core/errors';
import { type CounterBatch, type CounterReply, type Increment } from '../../core/ports';
import { createReplyDraft, failedReply, finish, takeOver } from '../reply-draft';
import {
  encodeAlgorithmCall,
  readAlgorithmAnswer,
  type AlgorithmCall,
  type AlgorithmReply,
} from './algorithm-call';
import { type RedisConnection } from './connection';
import { isReplyError } from './handshake';
import { ALGORITHM_SCRIPTS } from './lua-algorithms';
import { readAnswer, runScript, toFailure } from './script';
import { type Sending } from './sending';
import { isAboutKeys, isScriptsRefused, toNeedsScriptsError, toUnreadError } from './store-errors';

/**
 * Applies a batch by the script of algorithms; there is no way without. Increments that failed, even all of them, are in
 * the reply; rejects with a StoreError when the call failed as a whole.
 */
export async function applyAlgorithms(
  connection: RedisConnection,
  batch: CounterBatch,
  { withoutScripts = false, asking = false }: Sending,
): Promise<CounterReply> {
  const { increments, groupEnds } = batch;
  if (!connection.usesScripts) return refuse(connection, increments);
  if (withoutScripts || asking) return addEach(connection, increments, asking);
  const { isDeclaringKeys } = connection.scripts;
  try {
    return await callScript(connection, { increments, groupEnds, isDeclaringKeys, asking });
  } catch (error) {
    if (!isReplyError(error) || !isScriptsRefused(error.message)) throw connection.toError(error);
    if (isAboutKeys(error.message)) return addEach(connection, increments, false);
    connection.refuseScripts(error.message);
    return refuse(connection, increments);
  }
}

function refuse({ store }: RedisConnection, increments: readonly Increment[]): CounterReply {
  return failedReply(increments, toNeedsScriptsError(store));
}

/** A call for each key, which declares it: the server then says where the key is, or that it may not be used. */
async function addEach(
  connection: RedisConnection,
  increments: readonly Increment[],
  asking: boolean,
): Promise<CounterReply> {
  const replies = increments.map(async (increment) => {
    const call = { increments: [increment], groupEnds: undefined, isDeclaringKeys: true, asking };
    try {
      return await callScript(connection, call);
    } catch (error) {
      return failedReply(call.increments, connection.toError(error));
    }
  });
  const draft = createReplyDraft(increments.length);
  (await Promise.all(replies)).forEach((reply, index) => {
    takeOver(draft, index, reply, 0);
  });
  return finish(draft);
}

interface Call extends AlgorithmCall {
  readonly asking: boolean;
}

/** Rejects with what the client or the server said of the call as a whole. */
async function callScript(connection: RedisConnection, call: Call): Promise<CounterReply> {
  const script = ALGORITHM_SCRIPTS[call.isDeclaringKeys ? 'declaring' : 'cluster'];
  const args = encodeAlgorithmCall(call);
  const answer = await runScript(connection.client, script, args, call.asking);
  const reply = readReply(connection, readAnswer(connection, answer), call.increments);
  return { ...reply, failures: toFailures(connection, reply.failures) };
}

function readReply(
  { store }: RedisConnection,
  answer: unknown,
  increments: AlgorithmCall['increments'],
): AlgorithmReply {
  try {
    return readAlgorithmAnswer(answer, increments);
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
