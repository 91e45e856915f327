import { type Redis } from 'ioredis';
import { type CounterBatch, type CounterReply } from '../../core/ports';
import { createReplyDraft, fail } from '../reply-draft';
import { isReplyError } from './handshake';
import { type Link } from './link';
import { type Script } from './lua';
import { unpack } from './message-pack';
import { callScript, encodeArguments, type ScriptArguments } from './script-call';
import { isKeysRefused, toUnreadError } from './store-errors';

/**
 * Applies a batch by one script call; increments that failed, be it all, are in the reply. Rejects with
 * what the client or the server said of the call as a whole.
 */
export async function addByScript(link: Link, batch: CounterBatch): Promise<CounterReply> {
  const { increments, runEnds } = batch;
  const { add, holdBack, isDeclaringKeys } = link.scripts;
  const args = encodeArguments(increments, runEnds, isDeclaringKeys);
  if (runEnds === undefined)
    return readCounts(link, readAnswer(link, await call(link.client, add, args)));
  const answer = readAnswer(link, await call(link.client, holdBack, args));
  const [counts, places] = answer as [unknown, number[]];
  const reply = readCounts(link, counts);
  if (places.length === 0) return reply;
  const held = new Array<boolean>(increments.length).fill(false);
  for (const place of places) held[place - 1] = true;
  return { ...reply, held };
}

/** EVALSHA; when the server has forgotten the script nothing was executed, so that EVAL may follow. */
async function call(client: Redis, script: Script, args: ScriptArguments): Promise<unknown> {
  try {
    return await callScript(client, script, args, 'evalsha');
  } catch (error) {
    if (!isReplyError(error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return await callScript(client, script, args, 'eval');
  }
}

/** A packed answer, or a list where the server cannot pack. */
function readAnswer({ store }: Link, answer: unknown): unknown {
  if (!Buffer.isBuffer(answer)) return answer;
  try {
    return unpack(answer);
  } catch (error) {
    throw toUnreadError(store, error);
  }
}

/** Counts come as integers, failures as texts. */
function readCounts(link: Link, answer: unknown): CounterReply {
  const after = answer as (number | string | Buffer)[];
  const draft = createReplyDraft(after.length, after as number[]);
  for (let index = 0; index < after.length; index += 1) {
    const count = after[index];
    if (typeof count === 'number') continue;
    const text = String(count);
    if (isKeysRefused(text)) link.refuseScripts(text);
    fail(draft, index, link.toAnswerError(text));
  }
  return { after: draft.after, held: undefined, failures: draft.failures };
}
