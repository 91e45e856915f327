import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What the proxy does with what it gets. Every change counts from the next chunk on. */
export interface ProxyBehaviour {
  /** Holds every answer back for this time. */
  answerDelayMs: number;
  /** Keeps every answer until `release`. */
  holdsAnswers: boolean;
  /** Reads and forgets: nothing reaches the other side. */
  swallow: 'nothing' | 'requests' | 'answers';
  /** Passes on the first half of the next answer and then closes the connection. */
  cutNextAnswer: boolean;
  /** Closes a connection whose client sends this, as proxies do that do not know a command. */
  closeOn: RegExp | undefined;
  /** How it closes then: with a reset, as where it had not read everything. */
  closesWithReset: boolean;
}

export interface TcpProxy {
  readonly port: number;
  readonly behaviour: ProxyBehaviour;
  /** Connections that are open. */
  readonly size: number;
  /** Connections that were ever accepted. */
  readonly accepted: number;
  /** Bytes of requests that were read and forgotten. */
  readonly swallowed: number;
  /** Passes on the answers that it holds, and holds no more. */
  release(): void;
  /** Resets all connections. */
  reset(): void;
  /** Resets each connection when it is about to pass on the next answer, which nobody gets. */
  resetInsteadOfAnswer(): void;
  close(): Promise<void>;
}

/** A TCP proxy on loopback in front of a port, for faults. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const behaviour: ProxyBehaviour = {
    answerDelayMs: 0,
    holdsAnswers: false,
    swallow: 'nothing',
    cutNextAnswer: false,
    closeOn: undefined,
    closesWithReset: false,
  };
  const held: (() => void)[] = [];
  const pairs = new Set<readonly [near: Socket, far: Socket]>();
  let accepted = 0;
  let swallowed = 0;
  let isResetting = false;

  const server = createServer((near) => {
    accepted += 1;
    const far = connect(targetPort, '127.0.0.1');
    const pair = [near, far] as const;
    const passOn = createPassage(near);
    pairs.add(pair);
    const drop = (): void => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const socket of pair) socket.on('error', drop).on('close', drop);
    near.on('data', (chunk) => {
      if (behaviour.closeOn?.test(chunk.toString()) === true) {
        if (behaviour.closesWithReset) near.resetAndDestroy();
        else near.end();
      } else if (behaviour.swallow === 'requests') swallowed += chunk.length;
      else far.write(chunk);
    });
    far.on('data', (chunk) => {
      if (isResetting) near.resetAndDestroy();
      else if (behaviour.cutNextAnswer) {
        behaviour.cutNextAnswer = false;
        near.end(chunk.subarray(0, chunk.length / 2));
      } else if (behaviour.holdsAnswers) {
        held.push(() => {
          passOn(chunk, 0);
        });
      } else if (behaviour.swallow !== 'answers') passOn(chunk, behaviour.answerDelayMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const reset = (): void => {
    for (const [near] of pairs) near.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    behaviour,
    get size() {
      return pairs.size;
    },
    get accepted() {
      return accepted;
    },
    get swallowed() {
      return swallowed;
    },
    release() {
      behaviour.holdsAnswers = false;
      for (const pass of held.splice(0)) pass();
    },
    reset,
    resetInsteadOfAnswer() {
      isResetting = true;
      server.once('connection', () => {
        isResetting = false;
      });
    },
    async close() {
      reset();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Writes to a socket after a delay; as on every connection nothing overtakes what came before. */
function createPassage(socket: Socket): (chunk: Buffer, delayMs: number) => void {
  const waiting: { readonly chunk: Buffer; readonly dueMs: number }[] = [];
  const writeDue = (): void => {
    while (waiting[0] !== undefined && waiting[0].dueMs <= performance.now()) {
      const [next] = waiting.splice(0, 1);
      if (next !== undefined && socket.writable) socket.write(next.chunk);
    }
    const [first] = waiting;
    if (first !== undefined) wait(Math.ceil(first.dueMs - performance.now()));
  };
  let timer: NodeJS.Timeout | undefined;
  const wait = (delayMs: number): void => {
    timer = setTimeout(writeDue, delayMs);
  };
  socket.once('close', () => {
    clearTimeout(timer);
  });
  return (chunk, delayMs) => {
    if (waiting.length === 0 && delayMs === 0) socket.write(chunk);
    else if (waiting.push({ chunk, dueMs: performance.now() + delayMs }) === 1) {
      wait(delayMs);
    }
  };
}
