import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { toReason } from '../../platform/errors';
import { serverNameOf } from '../../platform/server-name';
import { readTlsOptions, type ClientTlsFiles } from '../../platform/tls-files';
import { withinAttempt, type Attempt } from '../connection/attempt';
import {
  createMemcachedConnection,
  type MemcachedConnection,
  type MemcachedConnectionOptions,
} from './connection';
import { type NodeAddress } from './options';
import { VERSION } from './protocol';

export interface OpenOptions extends MemcachedConnectionOptions, Attempt {
  readonly address: NodeAddress;
  readonly tls: ClientTlsFiles | undefined;
}

/**
 * Connects and waits until the server answers a command: a hung one accepts connections too. Rejects with an error that explains
 * the failure.
 */
export async function openMemcachedConnection(options: OpenOptions): Promise<MemcachedConnection> {
  const { address, tls, signal } = options;
  const tlsOptions = tls === undefined ? undefined : await readTlsOptions(tls);
  signal.throwIfAborted();
  const socket =
    tlsOptions === undefined
      ? connectTcp({ ...address })
      : connectTls({ ...address, ...serverNameOf(address.host), ...tlsOptions });
  const giveUp = (reason: string): void => {
    socket.destroy(new Error(reason));
  };
  try {
    return await withinAttempt(options, { giveUp }, async () => {
      await untilConnected(socket, tlsOptions === undefined ? 'connect' : 'secureConnect');
      const connection = createMemcachedConnection(socket, options);
      await askVersion(connection);
      return connection;
    });
  } catch (error) {
    socket.destroy();
    throw new Error(toReason(error), { cause: error });
  }
}

function untilConnected(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      socket.off('error', settle).off('close', onClose).off(event, onReady);
      // A later error would have no listener and end the process.
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

function askVersion(connection: MemcachedConnection): Promise<void> {
  return new Promise((resolve, reject) => {
    const onLine = (line: string): void => {
      if (line.startsWith('VERSION ')) resolve();
      else reject(new Error(`unexpected reply to version: ${toReason({ message: line })}`));
    };
    const onLost = (): void => {
      void connection.retired.then((reason) => {
        reject(new Error(reason));
      });
    };
    connection.send(VERSION, [{ onLine, onLost }]);
  });
}
