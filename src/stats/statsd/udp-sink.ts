import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import type { Sink } from '../sink';
import { socketCall } from './socket-call';
import { nameOf, type StatsdTarget } from './target';

/** What fits into one packet of Ethernet, with the headers of IPv6. */
const MAX_BYTES = 1432;

/**
 * One socket for each flush, so that a name that points elsewhere is noticed. A datagram counts as
 * sent when a turn later no refusal came back; beyond this machine nobody can tell.
 */
export function createUdpSink(target: StatsdTarget): Sink {
  const { host, port, timeoutMs } = target;
  let open: Socket | undefined;

  const rest = () => {
    open?.close();
    open = undefined;
  };

  const openSocket = async (signal: AbortSignal): Promise<Socket> => {
    const { address, family } = await firstAddress(host);
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
    open = socket;
    socket.on('error', () => undefined);
    await socketCall({ socket, signal, timeoutMs }, (done) => {
      socket.connect(port, address, done);
    });
    return socket;
  };

  return {
    name: nameOf('udp', target),
    maxBytes: MAX_BYTES,
    async send(lines, signal) {
      const socket = open ?? (await openSocket(signal));
      await socketCall({ socket, signal, timeoutMs }, (done) => {
        socket.send(lines, (error) => {
          if (error) done(error);
          else setImmediate(done);
        });
      });
    },
    rest,
    close: rest,
  };
}

/** IPv4 first, where StatsD usually listens: a datagram cannot try both. */
async function firstAddress(host: string) {
  const addresses = await lookup(host, { all: true });
  const first = addresses.find(({ family }) => family === 4) ?? addresses[0];
  if (first === undefined) throw new Error(`${host} has no address`);
  return first;
}
