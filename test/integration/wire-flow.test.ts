import type { Answer } from '../../src/core/ports';
import {
  BLOCKED_MS,
  MAX_UNREAD_BYTES,
  PAUSE_BYTES,
} from '../../src/transport/grpc/wire/connection';
import { OK } from '../support/transport-harness';
import { eventually } from '../support/edge/eventually';
import { FrameType, HELLO, SHOULD_RATE_LIMIT, call } from '../support/edge/raw-caller';
import { startWire } from '../support/edge/wire-service';

const EMPTY = Buffer.alloc(0);

const ofSize = (bytes: number): Answer => ({
  ...OK,
  responseHeaders: [{ key: 'x', value: 'v'.repeat(bytes) }],
});

describe('the flow of the wire transport', () => {
  let service: Awaited<ReturnType<typeof startWire>>;
  afterEach(() => service.stop());

  const calls = (from: number, count: number) =>
    Buffer.concat(
      Array.from({ length: count }, (_, index) =>
        call(2 * (from + index) + 1, SHOULD_RATE_LIMIT, EMPTY),
      ),
    );

  it('makes one batch of what one read brought, and one write of its answers', async () => {
    service = await startWire(() => undefined);
    const caller = service.connect();
    caller.send(HELLO);
    await eventually(() => {
      expect(caller.of(FrameType.settings)).toHaveLength(2);
    });
    const before = caller.chunks;
    caller.send(calls(0, 100));
    await eventually(() => {
      expect(service.waiting).toHaveLength(100);
    });
    expect(service.batches).toHaveLength(1);
    expect(service.batches[0]?.map(({ callId }) => callId)).toEqual([...Array(100).keys()]);
    for (const { responder, callId } of service.waiting) responder.answer(callId, OK);
    await eventually(() => {
      expect(caller.answered()).toBe(100);
    });
    expect(caller.chunks - before).toBe(1);
    expect(service.times.get('ratelimit_server.ShouldRateLimit.response_time')).toBe(100);
  });

  it('answers calls that came in the very first segment', async () => {
    service = await startWire();
    const caller = service.connect();
    caller.send(HELLO, calls(0, 3));
    await eventually(() => {
      expect(caller.answered()).toBe(3);
    });
    expect(caller.frames[0]?.type).toBe(FrameType.settings);
  });

  it('reads no more from a caller who does not read, and goes on when it does', async () => {
    const answer = ofSize(1_000);
    service = await startWire(() => answer);
    const caller = service.connect();
    caller.socket.pause();
    caller.send(HELLO);
    const total = 20_000;
    for (let from = 0; from < total; from += 100) caller.send(calls(from, 100));
    // What the kernel took and the bound of ours: far less than all, and it does not grow.
    const taken = await eventually(async () => {
      const seen = service.requests().length;
      expect(seen).toBeGreaterThan(PAUSE_BYTES / 1_000);
      await new Promise((resolve) => setImmediate(resolve));
      expect(service.requests()).toHaveLength(seen);
      return seen;
    });
    expect(taken).toBeLessThan(total / 2);
    caller.socket.resume();
    await eventually(
      () => {
        expect(caller.answered()).toBe(total);
      },
      { withinMs: 15_000 },
    );
  }, 20_000);

  it('cuts a caller for whom too much waits', async () => {
    service = await startWire(() => undefined);
    const caller = service.connect();
    caller.socket.pause();
    caller.send(HELLO, calls(0, 1000));
    await eventually(() => {
      expect(service.waiting).toHaveLength(1000);
    });
    const answer = ofSize(MAX_UNREAD_BYTES / 100);
    // In several turns, so that a write is under way when the next ones come.
    for (const { responder, callId } of service.waiting) {
      responder.answer(callId, answer);
      if (callId % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    caller.socket.resume();
    await eventually(() => {
      expect(caller.over).toBe(true);
    });
    expect(caller.answered()).toBeLessThan(1000);
    const other = service.connect();
    other.send(HELLO);
    await eventually(() => {
      expect(other.frames.length).toBeGreaterThan(0);
    });
  });

  it('cuts a caller who lets a write wait too long', async () => {
    const answer = ofSize(1_000_000);
    service = await startWire(() => answer);
    const caller = service.connect();
    caller.socket.pause();
    caller.send(HELLO, calls(0, 100));
    await eventually(() => {
      expect(service.requests().length).toBeGreaterThan(0);
    });
    await eventually(() => {
      service.passMs(BLOCKED_MS / 10);
      caller.socket.resume();
      expect(caller.over).toBe(true);
      caller.socket.pause();
    });
  });

  it('refuses a second subscriber, and completes a late one', async () => {
    service = await startWire();
    const ends: string[] = [];
    service.transport.requests$.subscribe({
      error: (error: unknown) => {
        ends.push(String(error));
      },
    });
    await service.transport.close(0);
    service.transport.requests$.subscribe({ complete: () => ends.push('complete') });
    expect(ends).toEqual(['Error: requests$ has a subscriber already', 'complete']);
  });
});
