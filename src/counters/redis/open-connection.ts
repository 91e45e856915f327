import { Redis, type RedisOptions } from 'ioredis';
import { readCredentials } from '../../platform/credentials-source';
import { toReason } from '../../platform/errors';
import { serverNameOf } from '../../platform/server-name';
import { readTlsOptions, type ClientTlsFiles } from '../../platform/tls-files';
import { withinAttempt, type Attempt } from '../connection/kept-connection';
import {
  createConnection,
  destroyClient,
  type ConnectionDeps,
  type RedisConnection,
} from './connection';
import { ClosedOnScript, shakeHands, toKeysQuestion, type Capabilities } from './handshake';
import { CLUSTER_SCRIPTS, SCRIPTS, type Script, type Scripts } from './lua/scripts';
import { type NodeOptions, type RedisAddress } from './options';
import { WrongKindError } from './wrong-kind';

/**
 * One client is one connection: it never reconnects and never sends a command twice. Commands that were written and not answered
 * when the connection ends are rejected (ioredis, event_handler.js: without a retry strategy `close` flushes the queue). The
 * handshake is ours, so that nothing is sent that a proxy does not know, and no password stays in the client.
 */
const ONE_CONNECTION = {
  lazyConnect: true,
  retryStrategy: () => null,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  enableOfflineQueue: false,
  enableAutoPipelining: false,
  enableReadyCheck: false,
  disableClientInfo: true,
  protocol: 2,
} as const satisfies RedisOptions;

interface TakesNode {
  /** Whether a single server may be a node of a cluster with others; otherwise that rejects. Default: yes. */
  readonly takesNodeOfCluster?: boolean;
}

/** Connects and shakes hands; rejects with an error that explains the failure. */
export async function openConnection(
  deps: ConnectionDeps,
  options: NodeOptions & Attempt & TakesNode,
): Promise<RedisConnection> {
  const { scripts: isWanted = true, timeoutMs } = options;
  const scripts = scriptsOf(options);
  const { client, roundTripMs, scriptsRefused, ...answers } = await connect(
    deps,
    options,
    isWanted ? scripts.add : undefined,
  ).catch(async (error: unknown) => {
    if (!isClosedOnScript(error)) throw error;
    return { ...(await connect(deps, options, undefined)), scriptsRefused: error.message };
  });
  const usesScripts = isWanted && scriptsRefused === undefined;
  if (scriptsRefused !== undefined) deps.onScriptsRefused(scriptsRefused);
  deps.onAnswers(answers);
  return createConnection(client, deps, {
    timeoutMs,
    roundTripMs,
    usesScripts,
    scripts,
    isOnlyServer: isOnlyServer(options),
  });
}

/**
 * Whether the server accepts scripts now, tried over a connection of its own: some proxies close it. Never rejects: a failure means
 * no. `withKeys`: it has refused scripts because of their keys, which a script without any does not show.
 */
export async function takesScripts(
  deps: Clock,
  options: NodeOptions & Attempt,
  withKeys: boolean,
): Promise<boolean> {
  const { add, isDeclaringKeys } = scriptsOf(options);
  try {
    const question = withKeys ? toKeysQuestion(isDeclaringKeys) : undefined;
    const { client, scriptsRefused } = await connect(deps, options, add, question);
    destroyClient(client);
    return scriptsRefused === undefined;
  } catch {
    return false;
  }
}

/** Whether it is the only server of its store: not a node of a cluster, and not named by a sentinel. */
export function isOnlyServer({
  isClusterNode = false,
  mustBeMaster = false,
}: NodeOptions): boolean {
  return !isClusterNode && !mustBeMaster;
}

function scriptsOf({ isClusterNode = false }: NodeOptions): Scripts {
  return isClusterNode ? CLUSTER_SCRIPTS : SCRIPTS;
}

function isClosedOnScript(error: unknown): error is OpenError {
  const isOurs = error instanceof OpenError && error.isHandshakeOnly;
  return isOurs && error.cause instanceof ClosedOnScript;
}

type Clock = Pick<ConnectionDeps, 'monotonicMs'>;

async function connect(
  { monotonicMs }: Clock,
  options: NodeOptions & Attempt & TakesNode,
  script: Script | undefined,
  question?: readonly string[],
): Promise<Capabilities & { readonly client: Redis }> {
  const { mustBeMaster = false, database = 0, typeSetting } = options;
  const { takesNodeOfCluster = true } = options;
  const auth = await readCredentials(options.auth);
  const { client, result } = await openClient(options, async (opened) => {
    const capabilities = await shakeHands(
      { client: opened, monotonicMs },
      {
        auth,
        database,
        script,
        question,
        mustBeMaster,
        isOnlyServer: isOnlyServer(options),
        typeSetting,
      },
    );
    const { moved, down = moved } = capabilities;
    if (down !== undefined && !takesNodeOfCluster)
      throw new WrongKindError('cluster', typeSetting, down);
    return capabilities;
  });
  return { client, ...result };
}

export interface OpenClientOptions extends Attempt {
  readonly address: RedisAddress;
  readonly tls?: ClientTlsFiles | undefined;
}

/** The first failure of a connection, in words, with the handshake's error as its cause. */
export class OpenError extends Error {
  override readonly name = 'OpenError';
  /** Only the handshake failed; the other side may have ended the connection during it. */
  readonly isHandshakeOnly: boolean;
  constructor(fault: string | undefined, cause: unknown, isHandshakeOnly: boolean) {
    super(fault ?? toReason(cause), { cause });
    this.isHandshakeOnly = isHandshakeOnly;
  }
}

/** Connects and shakes hands; rejects with an `OpenError`, and then leaves nothing open. */
export async function openClient<T>(
  options: OpenClientOptions,
  handshake: (client: Redis) => Promise<T>,
): Promise<{ readonly client: Redis; readonly result: T }> {
  const client = await createClient(options);
  let fault: string | undefined;
  let isHandshakeOnly = true;
  const noteFault = (error: unknown): void => {
    fault ??= toReason(error);
    isHandshakeOnly &&= isEnd(error);
  };
  const giveUp = (reason: string): void => {
    fault = reason;
    isHandshakeOnly = false;
    destroyClient(client);
  };
  // Redis waits for the end of a line, which the first bytes of TLS do not have.
  const hint = (): string => {
    const isConnected = (client as { stream?: Redis['stream'] }).stream?.connecting === false;
    const isWaiting = options.tls !== undefined && client.status === 'connecting' && isConnected;
    return isWaiting ? ': perhaps the server does not speak TLS' : '';
  };
  client.on('error', noteFault);
  try {
    return await withinAttempt(options, { giveUp, hint }, async () => {
      await client.connect();
      return { client, result: await handshake(client) };
    });
  } catch (error) {
    destroyClient(client);
    throw new OpenError(fault, error, isHandshakeOnly);
  } finally {
    client.off('error', noteFault);
  }
}

/** A side that ends a connection without having read everything resets it. */
function isEnd(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === 'ECONNRESET' || code === 'EPIPE';
}

/** A client that is not connected yet. Rejects when a certificate cannot be read. */
async function createClient({ address, tls, attemptMs }: OpenClientOptions): Promise<Redis> {
  const place =
    address.kind === 'tcp' ? { host: address.host, port: address.port } : { path: address.path };
  const serverName = address.kind === 'tcp' ? serverNameOf(address.host) : {};
  const secured =
    tls === undefined ? {} : { tls: { ...serverName, ...(await readTlsOptions(tls)) } };
  return new Redis({ ...ONE_CONNECTION, ...place, ...secured, connectTimeout: attemptMs });
}
