import { type Redis } from 'ioredis';
import { createClient, destroyClient } from './client';
import { ClosedOnScript, shakeHands, type Abilities } from './handshake';
import { createLink, type Link, type LinkDeps } from './link';
import { type RedisCountersOptions } from './options';
import { toReason } from './store-errors';

export interface OpenOptions extends RedisCountersOptions {
  /** How long connecting and the handshake may take. */
  readonly attemptMs: number;
  readonly signal: AbortSignal;
}

/** Connects and makes ready; rejects with an error whose message says why that failed. */
export async function openLink(deps: LinkDeps, options: OpenOptions): Promise<Link> {
  const { scripts = true, timeoutMs } = options;
  const { client, scriptsRefused } = await connect(options, scripts).catch(
    async (error: unknown) => {
      if (!(error instanceof ClosedOnScript)) throw error;
      const { client: plain } = await connect(options, false);
      return { client: plain, scriptsRefused: error.message };
    },
  );
  const usesScripts = scripts && scriptsRefused === undefined;
  if (scriptsRefused !== undefined) deps.onScriptsRefused(scriptsRefused);
  return createLink(client, deps, { timeoutMs, usesScripts });
}

async function connect(
  options: OpenOptions,
  scripts: boolean,
): Promise<Abilities & { readonly client: Redis }> {
  const { attemptMs, auth, signal } = options;
  const client = await createClient(options, attemptMs);
  let fault: string | undefined;
  const giveUp = (reason: string): void => {
    fault = reason;
    destroyClient(client);
  };
  const stop = (): void => {
    giveUp('the counters are closed');
  };
  const noteFault = (error: unknown): void => {
    fault ??= toReason(error);
  };
  const timer = setTimeout(giveUp, attemptMs, `no answer within ${String(attemptMs)} ms`);
  signal.addEventListener('abort', stop);
  client.on('error', noteFault);
  try {
    signal.throwIfAborted();
    await client.connect();
    return { client, ...(await shakeHands(client, { auth, scripts })) };
  } catch (error) {
    destroyClient(client);
    if (error instanceof ClosedOnScript && fault === undefined) throw error;
    throw new Error(fault ?? toReason(error));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    client.off('error', noteFault);
  }
}
