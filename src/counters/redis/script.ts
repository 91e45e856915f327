import { Command, type Redis } from 'ioredis';
import { type CounterBatch, type CounterReply, type Increment } from '../../core/ports';
import { createReplyDraft, fail, toReply } from '../reply-draft';
import { isReplyError } from './handshake';
import { type Link } from './link';
import { ADD_SCRIPT, HOLD_BACK_SCRIPT, type Script } from './lua';

/** Applies a batch by one script call. Rejects with what the client or the server said. */
export async function addByScript(link: Link, batch: CounterBatch): Promise<CounterReply> {
  const { increments, runEnds } = batch;
  if (runEnds === undefined) {
    const answer = await call(link.client, ADD_SCRIPT, toAddArgs(increments));
    return readCounts(link, answer);
  }
  const args = toHoldBackArgs(increments, runEnds);
  const [counts, places] = (await call(link.client, HOLD_BACK_SCRIPT, args)) as [unknown, number[]];
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

function toAddArgs(increments: readonly Increment[]): string[] {
  const args = ['', String(increments.length)];
  for (const { key } of increments) args.push(key);
  for (const { hits, ttlSeconds } of increments) args.push(String(hits), String(ttlSeconds));
  return args;
}

function toHoldBackArgs(increments: readonly Increment[], runEnds: readonly number[]): string[] {
  const args = ['', String(increments.length)];
  for (const { key } of increments) args.push(key);
  for (const { hits, ttlSeconds, limit } of increments) {
    args.push(String(hits), String(ttlSeconds), String(limit));
  }
  for (const end of runEnds) args.push(String(end));
  return args;
}

/** Counts come as integers, failures as texts. */
function readCounts(link: Link, answer: unknown): CounterReply {
  const after = answer as (number | Buffer)[];
  const draft = createReplyDraft(after.length, after as number[]);
  for (let index = 0; index < after.length; index += 1) {
    const count = after[index];
    if (typeof count !== 'number') fail(draft, index, link.toAnswerError(String(count)));
  }
  return toReply(draft);
}
