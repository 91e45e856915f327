import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { lookup as lookupBySystem } from 'node:dns/promises';
import { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';
import { addressText } from '../../platform/listen-address';
import type { Sink } from '../push-output';
import { toReason } from '../../platform/errors';

/** The address of StatsD. */
export interface StatsdTarget {
  readonly host: string;
  readonly port: number;
  /** Longest wait for a connection (TCP), and for the acceptance of one datagram (UDP). */
  readonly timeoutMs: number;
  /** Longest wait for the acceptance of one write (TCP), in milliseconds; default 60,000. */
  readonly stuckMs?: number;
  /** Resolves a name (UDP); the system's resolver when undefined. */
  readonly lookup?: (host: string) => Promise<readonly LookupAddress[]>;
}

/** As in messages: `tcp://localhost:8125`. */
export function nameOf(protocol: 'tcp' | 'udp', target: StatsdTarget): string {
  return `${protocol}://${addressText(target)}`;
}

/** One write: the most that is held for a server that does not read. */
const MAX_WRITE_BYTES = 16 * 1024;

/**
 * A server that stops reading for a while is waited for, since after giving up a connection it is unknown how much of its last
 * write was read. One that stays silent costs a write this long.
 */
const STUCK_MS = 60_000;

/**
 * One connection, opened by the first write and again after a failure. Lines count as sent when the system has accepted them:
 * StatsD does not confirm.
 */
export function createTcpSink(target: StatsdTarget): Sink {
  const { host, port, timeoutMs, stuckMs = STUCK_MS } = target;
  let open: Socket | undefined;

  const openSocket = async (signal: AbortSignal): Promise<Socket> => {
    const socket = connect({ host, port, keepAlive: true });
    // Input from the server is ignored; its end matters, and so does an error between two flushes.
    socket.resume();
    socket.on('error', () => undefined);
    await callOrDestroy({ socket, signal, timeoutMs }, (done) => {
      socket.once('connect', done);
    });
    return socket;
  };

  return {
    name: nameOf('tcp', target),
    maxBytes: MAX_WRITE_BYTES,
    async send(lines, signal) {
      if (open?.writable !== true) open = await openSocket(signal);
      const socket = open;
      await callOrDestroy({ socket, signal, timeoutMs: stuckMs }, (done) => {
        socket.write(`${lines}\n`, done);
      });
    },
    endFlush: () => undefined,
    close() {
      open?.destroySoon();
    },
  };
}

async function callOrDestroy(
  context: CallContext & { readonly socket: Socket },
  start: StartCall,
): Promise<void> {
  try {
    await socketCall(context, start);
  } catch (error) {
    context.socket.destroy();
    throw error;
  }
}

/** The payload of one Ethernet packet, with the headers of IPv6. */
const MAX_DATAGRAM_BYTES = 1432;

/**
 * One socket for each flush, so that a changed address is noticed. A datagram counts as sent when a turn later no refusal came
 * back; beyond this machine there is no way to know.
 */
export function createUdpSink(target: StatsdTarget): Sink {
  const { port, timeoutMs } = target;
  const askAddress = createAddressQuestion(target);
  let open: DatagramSocket | undefined;

  const endFlush = () => {
    open?.close();
    open = undefined;
  };

  const openSocket = async (signal: AbortSignal): Promise<DatagramSocket> => {
    const { address, family } = await askAddress(signal);
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
    maxBytes: MAX_DATAGRAM_BYTES,
    async send(lines, signal) {
      const socket = open ?? (await openSocket(signal));
      await socketCall({ socket, signal, timeoutMs }, (done) => {
        socket.send(lines, (error) => {
          if (error) done(error);
          else setImmediate(done);
        });
      });
    },
    endFlush,
    close: endFlush,
  };
}

const lookupAll = (host: string) => lookupBySystem(host, { all: true });

/** Resolves the address of a name, within the time-out. A pending lookup is not repeated: it occupies a thread of Node's pool. */
function createAddressQuestion({ host, timeoutMs, lookup = lookupAll }: StatsdTarget) {
  let asked: Promise<readonly LookupAddress[]> | undefined;
  return async (signal: AbortSignal): Promise<LookupAddress> => {
    asked ??= lookup(host).finally(() => {
      asked = undefined;
    });
    const answer = asked;
    let addresses: readonly LookupAddress[] = [];
    await socketCall({ socket: new EventEmitter(), signal, timeoutMs }, (done) => {
      answer.then((found) => {
        addresses = found;
        done();
      }, done);
    });
    return firstOf(host, addresses);
  };
}

/** IPv4 first, where StatsD usually listens: a datagram cannot try both. */
function firstOf(host: string, addresses: readonly LookupAddress[]): LookupAddress {
  const first = addresses.find(({ family }) => family === 4) ?? addresses[0];
  if (first === undefined) throw new Error(`${host} has no address`);
  return first;
}

interface CallContext {
  /** The socket of the call: its error or end is the call's. */
  readonly socket: EventEmitter;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Begins the call; `done` is called when it has ended, with an error when it failed. */
export type StartCall = (done: (error?: Error | null) => void) => void;

/** Runs one call of a socket: settles when it has ended, the socket fails or closes, its time is over or its result is no longer wanted. */
export function socketCall({ socket, signal, timeoutMs }: CallContext, start: StartCall) {
  return new Promise<void>((resolve, reject) => {
    const settle = (error?: Error | null) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
      socket.off('error', settle);
      socket.off('close', closed);
      if (error) reject(new Error(toReason(error), { cause: error }));
      else resolve();
    };
    const closed = () => {
      settle(new Error('the connection was closed'));
    };
    const aborted = () => {
      settle(new Error('the flush was cancelled'));
    };
    const timer = setTimeout(() => {
      settle(new Error(`nothing was accepted for ${timeoutMs.toString()} ms`));
    }, timeoutMs);
    socket.once('error', settle);
    socket.once('close', closed);
    signal.addEventListener('abort', aborted);
    if (signal.aborted) aborted();
    else start(settle);
  });
}
