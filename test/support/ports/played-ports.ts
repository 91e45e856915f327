import { Server, type ListenOptions } from 'node:net';
import { Duplex } from 'node:stream';

/** One end of a connection in this process, with what servers read of a socket. */
export class PlayedSocket extends Duplex {
  bytesRead = 0;
  bytesWritten = 0;
  readonly remoteAddress: string;
  #other: PlayedSocket | undefined;
  #taken: (() => void) | undefined;

  constructor(remoteAddress: string) {
    super({ allowHalfOpen: true });
    this.remoteAddress = remoteAddress;
  }

  join(other: PlayedSocket): void {
    this.#other = other;
    other.#other = this;
  }

  /** The other end reads again. */
  goOn(): void {
    const taken = this.#taken;
    this.#taken = undefined;
    taken?.();
  }

  setTimeout = () => this;
  setNoDelay = () => this;
  setKeepAlive = () => this;
  resetAndDestroy = () => this.destroy();
  destroySoon = () => this.end(() => this.destroy());

  override _read(): void {
    this.#other?.goOn();
  }

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    const other = this.#other;
    this.bytesWritten += bytes.length;
    // One that is closed reads no more.
    if (other === undefined || other.destroyed) {
      done();
      return;
    }
    other.bytesRead += bytes.length;
    // A copy: the writer may use its memory again.
    if (other.push(Buffer.from(bytes))) done();
    else this.#taken = done;
  }

  override _final(done: () => void): void {
    this.#other?.push(null);
    done();
  }

  override _destroy(_error: Error | null, done: (error: null) => void): void {
    // A reset, where it has not said its last word before.
    if (!this.writableFinished) this.#other?.destroy();
    done(null);
  }
}

/**
 * In place of the ports of this process, while tests run: a server of `node:net` or `node:http` that listens is found by its port and
 * gets connections from `connect`; no system knows of it.
 */
export function playPorts() {
  const servers = new Map<number, Server>();
  const listen = jest.spyOn(Server.prototype, 'listen').mockImplementation(function (
    this: Server,
    ...words: unknown[]
  ) {
    const [{ port = 0 }, listening] = words as [ListenOptions, () => void];
    servers.set(port, this);
    this.once('listening', listening);
    this.emit('listening');
    return this;
  });
  return {
    /** A client's end of a new connection. */
    connect(port: number, from = '127.0.0.1'): PlayedSocket {
      const server = servers.get(port);
      if (server === undefined) throw new Error(`nobody listens on port ${String(port)}`);
      const [client, accepted] = [new PlayedSocket(''), new PlayedSocket(from)];
      client.join(accepted);
      server.emit('connection', accepted);
      return client;
    },
    end() {
      listen.mockRestore();
    },
  };
}

/** All that may come at once has come. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
