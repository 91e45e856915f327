import { eventually } from '../support/edge/eventually';
import { frame } from '../unit/wire/grpc/grpc-caller';
import { OK } from '../support/transport-harness';
import {
  HALF_CLOSED_MS,
  KEEPALIVE_MS,
  KEEPALIVE_TIMEOUT_MS,
  PREFACE_MS,
  SETTINGS_ACK_MS,
} from '../../src/transport/grpc/wire/connection';
import {
  FrameType,
  HELLO,
  HELLO_WITHOUT_ACK,
  SHOULD_RATE_LIMIT,
  WATCH,
  call,
} from '../support/edge/raw-caller';
import { startWire } from '../support/edge/wire-service';

const EMPTY = Buffer.alloc(0);
const LAST_OF_ALL = 0x7fff_ffff;

describe('a connection of the wire transport', () => {
  let service: Awaited<ReturnType<typeof startWire>>;
  afterEach(() => service.stop());

  const greeted = async (hello = HELLO) => {
    const caller = service.connect();
    caller.send(hello);
    await eventually(() => {
      expect(caller.of(FrameType.settings).length).toBeGreaterThan(1);
    });
    return caller;
  };
  const goAways = (caller: Awaited<ReturnType<typeof greeted>>) =>
    caller
      .of(FrameType.goAway)
      .map(({ payload }) => [
        payload.readUInt32BE(0),
        payload.readUInt32BE(4),
        payload.subarray(8).toString(),
      ]);
  const pings = (caller: Awaited<ReturnType<typeof greeted>>) =>
    caller.of(FrameType.ping).filter(({ flags }) => flags === 0);

  it('is cut when the preface does not come', async () => {
    service = await startWire();
    const silent = service.connect();
    silent.send(HELLO.subarray(0, 10));
    const polite = await greeted();
    service.passMs(PREFACE_MS);
    await eventually(() => {
      expect(silent.over).toBe(true);
    });
    polite.send(call(1, SHOULD_RATE_LIMIT, EMPTY));
    await eventually(() => {
      expect(polite.answered()).toBe(1);
    });
  });

  it('ends with SETTINGS_TIMEOUT when our SETTINGS are not acknowledged', async () => {
    service = await startWire();
    const caller = await greeted(HELLO_WITHOUT_ACK);
    service.passMs(SETTINGS_ACK_MS);
    await eventually(() => {
      expect(goAways(caller)).toEqual([[0, 4, 'the SETTINGS were not acknowledged']]);
      expect(caller.over).toBe(true);
    });
  });

  it('is asked whether it is there after a silence, and stays when it is', async () => {
    service = await startWire();
    const caller = await greeted();
    for (let round = 1; round <= 2; round++) {
      service.passMs(KEEPALIVE_MS);
      const ping = await eventually(() => {
        expect(pings(caller)).toHaveLength(round);
        return pings(caller).at(-1);
      });
      caller.answerPing(ping as never);
      caller.send(call(2 * round - 1, SHOULD_RATE_LIMIT, EMPTY));
      await eventually(() => {
        expect(caller.answered()).toBe(round);
      });
    }
  });

  it('is cut when it is not there any more', async () => {
    service = await startWire();
    const caller = await greeted();
    service.passMs(KEEPALIVE_MS);
    await eventually(() => {
      expect(pings(caller)).toHaveLength(1);
    });
    service.passMs(KEEPALIVE_TIMEOUT_MS);
    await eventually(() => {
      expect(caller.over).toBe(true);
    });
  });

  it('is asked to leave at its age, and gets the answer that it waits for', async () => {
    service = await startWire(() => undefined, { maxConnectionAgeMs: 30_000 });
    const caller = await greeted();
    caller.send(call(1, SHOULD_RATE_LIMIT, EMPTY));
    await eventually(() => {
      expect(service.waiting).toHaveLength(1);
    });
    service.passMs(30_000);
    await eventually(() => {
      expect(goAways(caller)).toEqual([[LAST_OF_ALL, 0, 'max_age']]);
    });
    // Under way when the first GOAWAY came.
    caller.send(call(3, SHOULD_RATE_LIMIT, EMPTY));
    await eventually(() => {
      expect(service.waiting).toHaveLength(2);
    });
    caller.answerPing(pings(caller).at(-1) as never);
    await eventually(() => {
      expect(goAways(caller).slice(1)).toEqual([[3, 0, '']]);
    });
    expect(caller.over).toBe(false);
    for (const { responder, callId } of service.waiting) responder.answer(callId, OK);
    await eventually(() => {
      expect(caller.answered()).toBe(2);
      expect(caller.over).toBe(true);
    });
  });

  it('is told its last stream also when it does not answer the PING', async () => {
    service = await startWire(undefined, { maxConnectionAgeMs: 30_000 });
    const caller = await greeted();
    service.passMs(30_000);
    await eventually(() => {
      expect(goAways(caller)).toHaveLength(1);
    });
    service.passMs(1_000);
    await eventually(() => {
      expect(goAways(caller)).toHaveLength(2);
      expect(caller.over).toBe(true);
    });
  });

  it('is cut at the end of the grace', async () => {
    service = await startWire(undefined, {
      maxConnectionAgeMs: 30_000,
      maxConnectionAgeGraceMs: 5_000,
    });
    const caller = await greeted();
    caller.send(call(1, WATCH, EMPTY));
    await eventually(() => {
      expect(caller.of(FrameType.data)).toHaveLength(1);
    });
    service.passMs(30_000);
    await eventually(() => {
      expect(goAways(caller)).toHaveLength(1);
    });
    expect(caller.over).toBe(false);
    service.passMs(5_000);
    await eventually(() => {
      expect(caller.over).toBe(true);
    });
  });

  it('gets its answers after it has closed its side', async () => {
    service = await startWire(() => undefined);
    const caller = await greeted();
    caller.send(call(1, SHOULD_RATE_LIMIT, EMPTY));
    caller.socket.end();
    await eventually(() => {
      expect(service.waiting).toHaveLength(1);
    });
    for (const { responder, callId } of service.waiting) responder.answer(callId, OK);
    await eventually(() => {
      expect(caller.answered()).toBe(1);
      expect(caller.over).toBe(true);
    });
  });

  it('is cut when it has closed its side and waits for something that does not end', async () => {
    service = await startWire();
    const caller = await greeted();
    caller.send(call(1, WATCH, EMPTY));
    caller.socket.end();
    await eventually(() => {
      expect(caller.of(FrameType.data)).toHaveLength(1);
    });
    service.passMs(HALF_CLOSED_MS);
    await eventually(() => {
      expect(caller.over).toBe(true);
    });
    service.health.set({ serving: false, down: ['config'] });
  });

  it('is cut when it does not close its side after ours', async () => {
    service = await startWire();
    const caller = await greeted();
    caller.send(frame(FrameType.data, 0, 0, EMPTY));
    await eventually(() => {
      expect(caller.over).toBe(true);
    });
    expect(goAways(caller)[0]?.[1]).toBe(1);
    service.passMs(1_000);
    await eventually(() => {
      expect(service.failures).toHaveLength(1);
    });
  });

  it('does not keep a stop waiting by a reflection that is open', async () => {
    service = await startWire();
    const caller = await greeted();
    const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
    caller.send(call(1, path, Buffer.from([0x3a, 1, 0x2a]), false));
    await eventually(() => {
      expect(caller.of(FrameType.data)).toHaveLength(1);
    });
    const closed = service.transport.close(5_000);
    await eventually(() => {
      expect(caller.answered()).toBe(1);
    });
    caller.answerPing(pings(caller).at(-1) as never);
    await eventually(() => {
      expect(caller.over).toBe(true);
    });
    caller.socket.end();
    await closed;
  });

  it('is cut with its calls when the stop takes too long', async () => {
    service = await startWire(() => undefined);
    const caller = await greeted();
    caller.send(call(1, SHOULD_RATE_LIMIT, EMPTY));
    await eventually(() => {
      expect(service.waiting).toHaveLength(1);
    });
    await service.transport.close(20);
    await eventually(() => {
      expect(caller.over).toBe(true);
    });
    for (const { responder, callId } of service.waiting) responder.answer(callId, OK);
  });
});
