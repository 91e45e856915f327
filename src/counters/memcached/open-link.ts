import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { readTlsOptions } from '../../platform/tls-files';
import { serverNameOf } from '../../platform/server-name';
import { toReason } from '../../platform/errors';
import { VERSION } from './commands';
import { createLink, type Link, type LinkOptions } from './link';
import { type MemcachedTls, type NodeAddress } from './options';

export interface OpenLinkOptions extends LinkOptions {
  readonly address: NodeAddress;
  readonly tls: MemcachedTls | undefined;
  /** How long connecting and the first answer may take. */
  readonly attemptMs: number;
  readonly signal: AbortSignal;
}

/**
 * Connects and waits until the server answers a question: a hung one accepts connections too. Rejects
 * with an error whose message says why that failed.
 */
export async function openLink(options: OpenLinkOptions): Promise<Link> {
  const { address, tls, attemptMs, signal } = options;
  const tlsOptions = tls === undefined ? undefined : await readTlsOptions(tls);
  signal.throwIfAborted();
  const socket =
    tlsOptions === undefined
      ? connectTcp({ ...address })
      : connectTls({ ...address, ...serverNameOf(address.host), ...tlsOptions });
  const giveUp = (reason: string): void => {
    socket.destroy(new Error(reason));
  };
  const stop = (): void => {
    giveUp('the counters are closed');
  };
  const timer = setTimeout(giveUp, attemptMs, `no answer within ${String(attemptMs)} ms`);
  signal.addEventListener('abort', stop);
  try {
    await untilConnected(socket, tlsOptions === undefined ? 'connect' : 'secureConnect');
    const link = createLink(socket, options);
    await askVersion(link);
    return link;
  } catch (error) {
    socket.destroy();
    throw new Error(toReason(error), { cause: error });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

function untilConnected(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      socket.off('error', settle).off('close', onClose).off(event, onReady);
      // An error that comes later has nobody else to hear it.
      socket.on('error', () => undefined);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onReady = (): void => {
      settle();
    };
    const onClose = (): void => {
      settle(new Error('closed by the server'));
    };
    socket.on('error', settle).on('close', onClose).on(event, onReady);
  });
}

function askVersion(link: Link): Promise<void> {
  return new Promise((resolve, reject) => {
    const onLine = (line: string): void => {
      if (line.startsWith('VERSION ')) resolve();
      else reject(new Error(`it answered to version: ${toReason({ message: line })}`));
    };
    link.send(VERSION, [{ onLine, onLost: () => void link.ended.then(toFailure(reject)) }]);
  });
}

function toFailure(reject: (error: Error) => void): (reason: string) => void {
  return (reason) => {
    reject(new Error(reason));
  };
}
