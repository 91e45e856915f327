import { ByteBudget, type ByteHolder } from '../../src/platform/byte-budget';
import { OK } from '../support/transport-harness';
import { eventually } from '../support/edge/eventually';
import { createHpackDecoder, decodeBlock } from '../../src/wire/http2/hpack/decoder';
import { frame, message } from '../unit/wire/grpc/grpc-caller';
import { FrameType, HELLO, SHOULD_RATE_LIMIT, call } from '../support/edge/raw-caller';
import { startWire } from '../support/edge/wire-service';

const EMPTY = Buffer.alloc(0);
const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
const MAX_BYTES = 1_000_000;

/** The connections of another port. */
const others = (budget: ByteBudget, count: number, bytes: number): ByteHolder[] =>
  Array.from({ length: count }, () => {
    const holder = { heldBytes: 0, end: () => undefined };
    budget.report(holder, bytes);
    return holder;
  });

/** The beginning of a message of `bytes`, of which no end comes. */
const unfinished = (bytes: number) => {
  const body = message(Buffer.alloc(bytes)).subarray(0, bytes);
  const pieces = [call(1, SHOULD_RATE_LIMIT, EMPTY, false).subarray(0, -14)];
  for (let at = 0; at < bytes; at += 16_384)
    pieces.push(frame(FrameType.data, 0, 1, body.subarray(at, at + 16_384)));
  return Buffer.concat(pieces);
};

describe('the bytes that connections of the wire transport hold', () => {
  let service: Awaited<ReturnType<typeof startWire>>;
  afterEach(() => service.stop());

  it('count until they are answered and read, and no longer than their connection', async () => {
    const budget = new ByteBudget(MAX_BYTES);
    service = await startWire(() => undefined, {}, budget);
    const [caller, leaver] = [service.connect(), service.connect()];
    caller.send(HELLO, unfinished(100_000));
    leaver.send(HELLO, unfinished(50_000));
    await eventually(() => {
      expect(budget.heldBytes).toBeGreaterThan(150_000);
    });
    leaver.socket.resetAndDestroy();
    await eventually(() => {
      expect(budget.heldBytes).toBeLessThan(250_000);
    });
    caller.send(frame(FrameType.reset, 0, 1, Buffer.alloc(4)));
    await eventually(() => {
      expect(budget.heldBytes).toBe(0);
    });
  });

  it('cost the connection that holds most its life when they are too many', async () => {
    const budget = new ByteBudget(MAX_BYTES);
    service = await startWire(() => undefined, {}, budget);
    others(budget, 10, 80_000);
    const caller = service.connect();
    caller.send(HELLO, unfinished(250_000));
    await eventually(() => {
      expect(caller.over).toBe(true);
      expect(budget.heldBytes).toBe(800_000);
    });
  });

  it('are unread answers too', async () => {
    const budget = new ByteBudget(MAX_BYTES);
    const answer = { ...OK, responseHeaders: [{ key: 'x', value: 'v'.repeat(MAX_BYTES) }] };
    service = await startWire(() => answer, {}, budget);
    const caller = service.connect();
    caller.socket.pause();
    const calls = Array.from({ length: 50 }, (_, i) => call(2 * i + 1, SHOULD_RATE_LIMIT, EMPTY));
    caller.send(HELLO, ...calls);
    await eventually(() => {
      expect(service.requests()).toHaveLength(50);
      expect(budget.heldBytes).toBe(0);
    });
    caller.socket.resume();
    await eventually(() => {
      expect(caller.over).toBe(true);
    });
    expect(caller.answered()).toBeLessThan(50);
  });

  it('let new calls be refused until there is room again', async () => {
    const budget = new ByteBudget(MAX_BYTES);
    service = await startWire(undefined, {}, budget);
    const caller = service.connect();
    caller.send(HELLO, call(1, SHOULD_RATE_LIMIT, EMPTY));
    await eventually(() => {
      expect(caller.answered()).toBe(1);
    });
    const holders = others(budget, 100, 10_001);
    caller.send(call(3, SHOULD_RATE_LIMIT, EMPTY));
    await eventually(() => {
      expect(caller.answered()).toBe(2);
    });
    for (const holder of holders) budget.report(holder, 0);
    caller.send(call(5, SHOULD_RATE_LIMIT, EMPTY));
    await eventually(() => {
      expect(caller.answered()).toBe(3);
    });
    const decoder = createHpackDecoder(65_536, false);
    const ends = caller
      .of(FrameType.headers)
      .map(({ payload }) => decodeBlock(decoder, payload, 0, payload.length))
      .flatMap((list) =>
        list === undefined ? [] : [list.values[list.names.indexOf('grpc-status')]],
      )
      .filter((code) => code !== undefined);
    expect(ends).toEqual(['0', '8', '0']);
    expect(service.requests()).toHaveLength(2);
  });

  it('stay few while nobody reads the answers of reflection, however many questions come', async () => {
    let most = 0;
    class Watched extends ByteBudget {
      override report(holder: ByteHolder, bytes: number): void {
        most = Math.max(most, bytes);
        super.report(holder, bytes);
      }
    }
    const budget = new Watched(Infinity);
    service = await startWire(undefined, {}, budget);
    const caller = service.connect();
    caller.socket.pause();
    const file = Buffer.from('envoy/service/ratelimit/v3/rls.proto');
    const pending = Buffer.concat([Buffer.from([0x1a, file.length]), file]);
    const pendingRequests = Buffer.concat(Array.from({ length: 350 }, () => message(pending)));
    const first = call(1, REFLECTION, pending, false);
    const chunk = frame(FrameType.data, 0, 1, pendingRequests);
    caller.send(HELLO, first, chunk, chunk, chunk, frame(FrameType.data, 1, 1, pendingRequests));
    await eventually(() => {
      expect(most).toBeGreaterThan(0);
    });
    caller.socket.resume();
    await eventually(
      () => {
        expect(caller.answered()).toBe(1);
      },
      { withinMs: 15_000 },
    );
    const answered = caller
      .of(FrameType.data)
      .reduce((sum, { payload }) => sum + payload.length, 0);
    expect(answered).toBeGreaterThan(4_000_000);
    expect(most).toBeLessThan(400_000);
    expect(budget.heldBytes).toBe(0);
  }, 20_000);

  it('are those of as many connections as there may be', async () => {
    service = await startWire(undefined, { maxConnections: 1 });
    const first = service.connect();
    first.send(HELLO);
    await eventually(() => {
      expect(first.frames.length).toBeGreaterThan(0);
    });
    const second = service.connect();
    await eventually(() => {
      expect(second.over).toBe(true);
    });
    expect(first.over).toBe(false);
  });
});
