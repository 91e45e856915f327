import { createWireTransport } from '../../src/transport/grpc/wire/transport';
import { createTestClient } from '../support/edge/grpc-client';
import { OK, startTransport, type Script } from '../support/transport-harness';
import { eventually } from '../support/edge/eventually';
import { ACK, Type, frame, ping } from '../support/h2-frames';
import { connectAttacker, wholeCall } from '../support/edge/h2-attacker';

const REQUEST = { domain: 'edge', descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }] };
const DRAIN_PING = frame(Type.ping, ACK, 0, '6472616900000000');

describe('a stop of our gRPC transport', () => {
  /** On a clock that stands still: the time for the answer to a drain's PING is never over. */
  const start = (script?: Script) =>
    startTransport(
      (deps, options) =>
        createWireTransport({ ...deps, nowMs: () => 1_000, random: () => 0.5 }, options),
      script,
    );

  it('answers calls that were sent before GOAWAY was seen', async () => {
    const { transport, address, completed } = await start();
    const caller = await connectAttacker(address);
    await eventually(() => {
      expect(caller.seen()).toContain('settings ack');
    });
    const closed = transport.close(5_000);
    await eventually(() => {
      expect(caller.seen()).toContain('goAway 0 last 2147483647');
    });
    await caller.send(wholeCall(1), wholeCall(3));
    await eventually(() => {
      expect(caller.seen().slice(-6).join()).toMatch(
        /^headers#1,data#1 7,headers#1 end,headers#3,data#3 7,headers#3 end$/,
      );
    });
    await caller.send(DRAIN_PING, wholeCall(5));
    await caller.closed;
    expect(caller.seen().at(-1)).toBe('goAway 0 last 3');
    await closed;
    expect(completed).toContain('questions$');
  });

  it('fails no call of grpc-js that had a connection', async () => {
    const { transport, address, requests } = await start((request) =>
      request.hitsAddend > 0 ? undefined : OK,
    );
    const client = createTestClient(address);
    await client.ask(REQUEST);
    let isOver = false;
    const failures: string[] = [];
    let asked = 0;
    let answered = 1;
    const one = async () => {
      while (!isOver) {
        const { code, details } = await client.ask(REQUEST);
        asked += 1;
        if (details === '') answered += 1;
        else failures.push(`${String(code)} ${details}`);
        isOver ||= failures.length > 200;
      }
    };
    const callers = Promise.all(Array.from({ length: 20 }, one));
    await eventually(() => {
      expect(asked).toBeGreaterThan(500);
    });
    await transport.close(5_000);
    isOver = true;
    await callers;
    client.close();
    expect(requests()).toHaveLength(answered);
    expect(failures.filter((text) => !text.includes('No connection established'))).toEqual([]);
  });

  it('cuts a caller that goes on with its calls', async () => {
    const { transport, address } = await start(() => undefined);
    const caller = await connectAttacker(address);
    await caller.send(wholeCall(1), ping());
    await eventually(() => {
      expect(caller.seen()).toContain('settings ack');
    });
    await transport.close(100);
    await caller.closed;
    expect(caller.seen()).toContain('goAway 0 last 2147483647');
  });
});
