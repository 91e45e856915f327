import { type CounterBatch, type CounterReply } from '../../core/ports';
import { isReplyError } from './handshake';
import { type Link } from './link';
import { addByPipeline } from './pipeline';
import { addByScript } from './script';
import { failedReply, joinReplies, splitBatch } from './split-batch';
import { isAboutKeys, isScriptsRefused } from './store-errors';

/** Increments of one call: a script of this size keeps Redis from everything else for some 2 ms. */
const MAX_INCREMENTS_PER_CALL = 2_000;

/** How a batch is to be sent. */
export interface Sending {
  /** Plain commands, which say where a key of a cluster is; also where the server takes scripts. */
  readonly plainly?: boolean;
  /** Uses slots of a cluster that are still on their way to this node. Implies `plainly`. */
  readonly asking?: boolean;
}

/**
 * Applies a batch over a link, by script where the server takes one. Increments that failed are in the
 * reply, be it all; rejects with a StoreError when the call failed as a whole.
 */
export async function applyBatch(
  link: Link,
  batch: CounterBatch,
  sending: Sending = {},
): Promise<CounterReply> {
  const parts = splitBatch(batch, MAX_INCREMENTS_PER_CALL);
  if (parts.length === 1) return applyPart(link, batch, sending);
  return joinReplies(await Promise.all(parts.map((part) => settlePart(link, part, sending))));
}

async function applyPart(
  link: Link,
  part: CounterBatch,
  { plainly = false, asking = false }: Sending,
): Promise<CounterReply> {
  if (plainly || asking || !link.usesScripts) return addPlainly(link, part, asking);
  try {
    return await addByScript(link, part);
  } catch (error) {
    if (!isReplyError(error) || !isScriptsRefused(error.message)) throw link.toError(error);
    if (!isAboutKeys(error.message)) link.refuseScripts(error.message);
    return addPlainly(link, part, false);
  }
}

async function addPlainly(link: Link, part: CounterBatch, asking: boolean): Promise<CounterReply> {
  try {
    return await addByPipeline(link, part, asking);
  } catch (error) {
    throw link.toError(error);
  }
}

async function settlePart(link: Link, part: CounterBatch, sending: Sending): Promise<CounterReply> {
  try {
    return await applyPart(link, part, sending);
  } catch (error) {
    return failedReply(part.increments, link.toError(error));
  }
}
