import { type Redis } from 'ioredis';
import { readCredentials, type CredentialsSource } from '../../../platform/credentials-source';
import { type ClientTlsFiles } from '../../../platform/tls-files';
import { destroyClient } from '../connection';
import { authenticate } from '../handshake';
import { openClient } from '../open-connection';
import { toReason } from '../../../platform/errors';
import { isUnknownCommand, WrongKindError, type TypeSetting } from '../wrong-kind';
import { isPort, toAddressText, type HostAndPort, type RedisAddress } from '../options';

export interface MasterView {
  readonly address: RedisAddress;
  /** Grows with every failover: of two views the one with the higher epoch is newer. */
  readonly epoch: number;
}

export interface SentinelOptions {
  readonly masterName: string;
  readonly auth: CredentialsSource | undefined;
  readonly tls: ClientTlsFiles | undefined;
  /** Limit for an answer, connecting included. */
  readonly answerMs: number;
  readonly typeSetting: TypeSetting | undefined;
}

/** A connection to one sentinel, opened on its first use and kept. */
export function createSentinel(place: HostAndPort, options: SentinelOptions) {
  const { masterName, tls, answerMs } = options;
  const address: RedisAddress = { kind: 'tcp', ...place };
  let client: Redis | undefined;

  const drop = (): void => {
    if (client !== undefined) destroyClient(client);
    client = undefined;
  };
  const connect = async (signal: AbortSignal): Promise<Redis> => {
    const auth = await readCredentials(options.auth);
    const { client: opened } = await openClient(
      { address, tls, attemptMs: answerMs, signal },
      async (fresh) => {
        if (auth !== undefined) await authenticate(fresh, auth);
      },
    );
    opened.on('error', () => undefined);
    return opened;
  };
  const pending = async (asked: Redis): Promise<MasterView> => {
    // In one write: the address of one answer belongs to the epoch of the other.
    const [where, what] = await Promise.all([
      asked.call('SENTINEL', 'get-master-addr-by-name', masterName),
      asked.call('SENTINEL', 'master', masterName),
    ]);
    return toView(masterName, where, what);
  };

  return {
    /** The sentinel's address, as in messages. */
    name: toAddressText(address),
    /** Rejects when it does not answer in time or does not know the master. */
    async query(signal: AbortSignal) {
      const timer = setTimeout(drop, answerMs);
      signal.addEventListener('abort', drop);
      try {
        if (client?.status !== 'ready') client = await connect(signal);
        return await pending(client);
      } catch (error) {
        drop();
        throw toFault(error, options.typeSetting);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', drop);
      }
    },
    close: drop,
  };
}

export type Sentinel = ReturnType<typeof createSentinel>;

/** Names the setting that mends a plain server under sentinels. */
function toFault(error: unknown, typeSetting: TypeSetting | undefined): unknown {
  const answer = toReason(error);
  return isUnknownCommand(answer) ? new WrongKindError('no-sentinel', typeSetting, answer) : error;
}

function toView(masterName: string, where: unknown, what: unknown): MasterView {
  if (!Array.isArray(where) || !Array.isArray(what))
    throw new Error(`it does not know a master named "${masterName}"`);
  const [host, port] = where.map(String);
  const fields = what.map(String);
  const epoch = Number(fields[fields.indexOf('config-epoch') + 1]);
  if (host === undefined || host === '' || !isPort(Number(port)))
    throw new Error(`it gives "${String(where)}" as the address of "${masterName}"`);
  return {
    address: { kind: 'tcp', host, port: Number(port) },
    epoch: Number.isFinite(epoch) ? epoch : 0,
  };
}

/** An older answer no longer counts: its epoch may belong to a past set-up. */
const COUNTS_FOR_MS = 5_000;

/** Chooses between the latest answers of the sentinels: one that lags behind or is isolated does not win. */
export function createMasterElection() {
  const views = new Map<string, { readonly view: MasterView; readonly atMs: number }>();
  return {
    /** Notes the answer of a sentinel; returns the newest of those that still count. */
    vote(sentinel: string, view: MasterView, nowMs: number) {
      views.set(sentinel, { view, atMs: nowMs });
      let newest = view;
      for (const { view: other, atMs } of views.values())
        if (other.epoch > newest.epoch && nowMs - atMs < COUNTS_FOR_MS) newest = other;
      return newest;
    },
  };
}
