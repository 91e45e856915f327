import { type CounterBatch, type CounterReply } from '../../core/ports';
import { addByPipeline } from './add-by-pipeline';
import { type RedisConnection } from './connection';
import { isReplyError } from './handshake';
import { addByScript } from './script';
import { type Sending } from './sending';
import { isAboutKeys, isScriptsRefused } from './store-errors';

/** Applies fixed windows that charge what they refuse, by script where the server takes one. */
export async function applyFixed(
  connection: RedisConnection,
  part: CounterBatch,
  { withoutScripts = false, asking = false }: Sending,
): Promise<CounterReply> {
  if (withoutScripts || asking || !connection.usesScripts)
    return addWithoutScripts(connection, part, asking);
  try {
    return await addByScript(connection, part);
  } catch (error) {
    if (!isReplyError(error) || !isScriptsRefused(error.message)) throw connection.toError(error);
    if (!isAboutKeys(error.message)) connection.refuseScripts(error.message);
    return addWithoutScripts(connection, part, false);
  }
}

async function addWithoutScripts(
  connection: RedisConnection,
  part: CounterBatch,
  asking: boolean,
): Promise<CounterReply> {
  try {
    return await addByPipeline(connection, part, asking);
  } catch (error) {
    throw connection.toError(error);
  }
}
