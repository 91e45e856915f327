import { Command, type Redis } from 'ioredis';
import { type CounterBatch, type CounterReply, type Increment } from '../../core/ports';
import { createReplyDraft, fail } from '../reply-draft';
import { isReplyError } from './handshake';
import { type Link } from './link';
import { type Script } from './lua';
import { isKeysRefused } from './store-errors';

/**
 * Applies a batch by one script call; increments that failed, be it all, are in the reply. Rejects with
 * what the client or the server said of the call as a whole.
 */
export async function addByScript(link: Link, batch: CounterBatch): Promise<CounterReply> {
  const { increments, runEnds } = batch;
  const { add, holdBack, isDeclaringKeys } = link.scripts;
  const args = toKeyArgs(increments, isDeclaringKeys);
  if (runEnds === undefined) {
    for (const { hits, ttlSeconds } of increments) args.push(String(hits), String(ttlSeconds));
    return readCounts(link, await call(link.client, add, args));
  }
  for (const { hits, ttlSeconds, limit } of increments) {
    args.push(String(hits), String(ttlSeconds), String(limit));
  }
  for (const end of runEnds) args.push(String(end));
  const [counts, places] = (await call(link.client, holdBack, args)) as [unknown, number[]];
  const reply = readCounts(link, counts);
  if (places.length === 0) return reply;
  const held = new Array<boolean>(increments.length).fill(false);
  for (const place of places) held[place - 1] = true;
  return { ...reply, held };
}

/** EVALSHA; when the server has forgotten the script nothing was executed, so that EVAL may follow. */
async function call(client: Redis, script: Script, args: string[]): Promise<unknown> {
  try {
    return await send(client, 'evalsha', args, script.sha);
  } catch (error) {
    if (!isReplyError(error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return await send(client, 'eval', args, script.source);
  }
}

function send(client: Redis, name: string, args: string[], script: string): Promise<unknown> {
  args[0] = script;
  const command = new Command(name, args);
  client.sendCommand(command);
  return command.promise as Promise<unknown>;
}

/** A place for the script, the number of keys, and the keys. */
function toKeyArgs(increments: readonly Increment[], isDeclaringKeys: boolean): string[] {
  const count = String(increments.length);
  const args = isDeclaringKeys ? ['', count] : ['', '0', count];
  for (const { key } of increments) args.push(key);
  return args;
}

/** Counts come as integers, failures as texts. */
function readCounts(link: Link, answer: unknown): CounterReply {
  const after = answer as (number | Buffer)[];
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
