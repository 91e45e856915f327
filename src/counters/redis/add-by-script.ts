import { type Redis } from 'ioredis';
import { type StoreError } from '../../core/errors';
import { type CounterBatch, type CounterReply } from '../../core/ports';
import { isCount } from '../count';
import { createReplyDraft, fail } from '../../core/batches/reply-draft';
import { isReplyError } from './probe-server';
import { type RedisConnection } from './connection';
import { type Script } from './lua/scripts';
import { unpack } from './message-pack';
import { callScript, encodeArguments, type ScriptArguments } from './script-call';
import {
  COUNTED,
  isKeysRefused,
  isScriptsRefused,
  toHalfDoneError,
  toNoCountError,
  toUnreadError,
  withoutPlace,
} from './store-errors';

/**
 * Applies a batch by one script call; failed increments, even all of them, are in the reply. Rejects with the error of the client
 * or the server for the call as a whole.
 */
export async function addByScript(
  connection: RedisConnection,
  batch: CounterBatch,
): Promise<CounterReply> {
  const { increments, groupEnds } = batch;
  const { length } = increments;
  const { add, holdBack, isDeclaringKeys } = connection.scripts;
  const args = encodeArguments(increments, groupEnds, isDeclaringKeys);
  if (groupEnds === undefined)
    return readCounts(
      connection,
      readAnswer(connection, await runScript(connection.client, add, args)),
      length,
    );
  const answer = readAnswer(connection, await runScript(connection.client, holdBack, args));
  const [counts, places] = readList(connection, answer, 2);
  const held = readPlaces(connection, places, length);
  return { ...readCounts(connection, counts, length), held };
}

/** EVALSHA; when the server has dropped the script nothing was executed, so that EVAL may follow. */
export async function runScript(
  client: Redis,
  script: Script,
  args: ScriptArguments,
  asking = false,
): Promise<unknown> {
  try {
    if (asking) ask(client);
    return await callScript(client, script, args, 'evalsha');
  } catch (error) {
    if (!isReplyError(error) || !error.message.startsWith('NOSCRIPT')) throw error;
    if (asking) ask(client);
    return await callScript(client, script, args, 'eval');
  }
}

/** The server's answer where it refused a call because it is a script; undefined for every other error. */
export function scriptRefusal(error: unknown): string | undefined {
  return isReplyError(error) && isScriptsRefused(error.message) ? error.message : undefined;
}

/** Lets the next command use a slot that is being moved to this node of a cluster. Errors surface on that command. */
function ask(client: Redis): void {
  client.asking().catch(() => undefined);
}

/** A packed answer, or a list where the server cannot pack. */
export function readAnswer({ store }: RedisConnection, answer: unknown): unknown {
  if (!Buffer.isBuffer(answer)) return answer;
  try {
    return unpack(answer);
  } catch (error) {
    throw toUnreadError(store, error);
  }
}

/** A list of this length, or an error that fails the whole call. */
function readList({ store }: RedisConnection, answer: unknown, length: number): readonly unknown[] {
  if (!Array.isArray(answer))
    throw toUnreadError(store, `expected a list, found a ${typeof answer}`);
  if (answer.length === length) return answer;
  const { length: found } = answer;
  throw toUnreadError(store, `expected a list of ${String(length)} items, found ${String(found)}`);
}

/** Counts come as integers, failures as texts. */
function readCounts(connection: RedisConnection, answer: unknown, length: number): CounterReply {
  const after = readList(connection, answer, length);
  const draft = createReplyDraft(length, after as number[]);
  for (let index = 0; index < length; index += 1) {
    const count = after[index];
    if (!isCount(count)) fail(draft, index, toFailure(connection, count));
  }
  return { after: draft.after, held: undefined, failures: draft.failures };
}

export function toFailure(connection: RedisConnection, answer: unknown): StoreError {
  if (typeof answer !== 'string' && !Buffer.isBuffer(answer))
    return toNoCountError(connection.store, answer);
  const text = String(answer);
  if (text.startsWith(COUNTED))
    return toHalfDoneError(connection.store, withoutPlace(text.slice(COUNTED.length)));
  const refusal = withoutPlace(text);
  if (isKeysRefused(refusal)) connection.refuseScripts(refusal);
  return connection.toAnswerError(refusal);
}

/** Which increments were held back; the answer counts indices from 1. */
function readPlaces(
  { store }: RedisConnection,
  answer: unknown,
  length: number,
): boolean[] | undefined {
  if (!Array.isArray(answer))
    throw toUnreadError(store, `expected a list, found a ${typeof answer}`);
  if (answer.length === 0) return undefined;
  const held = new Array<boolean>(length).fill(false);
  for (const place of answer as readonly unknown[]) {
    const isPlace =
      Number.isInteger(place) && (place as number) >= 1 && (place as number) <= length;
    if (!isPlace)
      throw toUnreadError(store, `it holds back an increment outside of 1 to ${String(length)}`);
    held[(place as number) - 1] = true;
  }
  return held;
}
