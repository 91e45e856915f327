import { type Redis } from 'ioredis';
import { readCredentials } from '../../platform/credentials-source';
import { ClosedOnScript, shakeHands, type Abilities } from './handshake';
import { createLink, type Link, type LinkDeps } from './link';
import { CLUSTER_SCRIPTS, SCRIPTS, type Script } from './lua';
import { openClient, OpenError } from './open-client';
import { type NodeOptions } from './options';

export interface OpenOptions extends NodeOptions {
  /** How long connecting and the handshake may take. */
  readonly attemptMs: number;
  readonly signal: AbortSignal;
}

/** Connects and makes ready; rejects with an error whose message says why that failed. */
export async function openLink(deps: LinkDeps, options: OpenOptions): Promise<Link> {
  const { scripts: isWanted = true, timeoutMs, isClusterNode = false } = options;
  const scripts = isClusterNode ? CLUSTER_SCRIPTS : SCRIPTS;
  const { client, scriptsRefused } = await connect(
    options,
    isWanted ? scripts.add : undefined,
  ).catch(async (error: unknown) => {
    if (!isClosedOnScript(error)) throw error;
    const { client: plain } = await connect(options, undefined);
    return { client: plain, scriptsRefused: error.message };
  });
  const usesScripts = isWanted && scriptsRefused === undefined;
  if (scriptsRefused !== undefined) deps.onScriptsRefused(scriptsRefused);
  return createLink(client, deps, { timeoutMs, usesScripts, scripts });
}

function isClosedOnScript(error: unknown): error is OpenError {
  const isOurs = error instanceof OpenError && error.isHandshakeOnly;
  return isOurs && error.cause instanceof ClosedOnScript;
}

async function connect(
  options: OpenOptions,
  script: Script | undefined,
): Promise<Abilities & { readonly client: Redis }> {
  const { mustBeMaster = false, database = 0 } = options;
  const auth = await readCredentials(options.auth);
  const { client, result } = await openClient(options, (opened) =>
    shakeHands(opened, { auth, database, script, mustBeMaster }),
  );
  return { client, ...result };
}
