import { type CounterBatch, type CounterReply } from '../../core/ports';
import { isReplyError } from './handshake';
import { type Link } from './link';
import { addByPipeline } from './pipeline';
import { addByScript } from './script';
import { failedReply, joinReplies, splitBatch } from './split-batch';
import { isAboutKeys, isScriptsRefused } from './store-errors';

/** Increments of one call: a script of this size keeps Redis from everything else for some 2 ms. */
const MAX_INCREMENTS_PER_CALL = 2_000;

/** Applies a batch over a link, by script where the server takes one; rejects with a StoreError. */
export async function applyBatch(link: Link, batch: CounterBatch): Promise<CounterReply> {
  const parts = splitBatch(batch, MAX_INCREMENTS_PER_CALL);
  if (parts.length === 1) return applyPart(link, batch);
  return joinReplies(await Promise.all(parts.map((part) => settlePart(link, part))));
}

async function applyPart(link: Link, part: CounterBatch): Promise<CounterReply> {
  try {
    return await (link.usesScripts ? addByScript : addByPipeline)(link, part);
  } catch (error) {
    if (!isReplyError(error) || !isScriptsRefused(error.message)) throw link.toError(error);
    if (!isAboutKeys(error.message)) link.refuseScripts(error.message);
    return addByPipeline(link, part);
  }
}

async function settlePart(link: Link, part: CounterBatch): Promise<CounterReply> {
  try {
    return await applyPart(link, part);
  } catch (error) {
    return failedReply(part.increments, link.toError(error));
  }
}
