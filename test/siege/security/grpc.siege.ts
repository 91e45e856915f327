import { randomBytes } from 'node:crypto';
import { SHOULD_RATE_LIMIT } from '../../support/edge/grpc-client';
import { bytesField, grpcMessage, openGrpc, packedCall } from '../../support/grpc-frames';
import { connectAttacker, connectRaw, ponged, type Attacker } from '../../support/edge/h2-attacker';
import { PREFACE, Type, data, frame, settings, windowUpdate } from '../../support/h2-frames';
import { startHttpCollector } from '../../support/otlp-collector';
import type { Service } from '../../support/edge/service';
import {
  ONE_RULE,
  askAll,
  expectToWithstand,
  expired,
  inRedis,
  postJson,
  sharedService,
  startSmallService,
  stopSmallServices,
  using,
  type Attackers,
} from '../../support/edge/small-service';

/** Attacks of those who reach the gRPC port. */

const WATCH = '/grpc.health.v1.Health/Watch';
const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
const MAX_WINDOW = 2 ** 31 - 1;
const FRAME_BYTES = 16_384;

afterAll(stopSmallServices);

const leaving = (attackers: readonly Attacker[]): Attackers => ({
  leave() {
    for (const { socket } of attackers) socket.destroy();
  },
});

/** A text that packs to a hundredth of its size, not more. */
function text(length: number): string {
  return randomBytes(37_000).toString('base64').padEnd(length, 'x');
}

/** Settles when everything has been read, or the connection is gone. */
const heard = ({ closed, ...attacker }: Attacker): Promise<unknown> =>
  Promise.race([ponged({ closed, ...attacker }).catch(() => undefined), closed, expired(8_000)]);

/** Calls on connections of their own, each as soon as the one before has been read. */
async function callPacked(
  service: Service,
  connections: number,
  calls: number,
  make: (id: number) => Buffer,
): Promise<Attackers> {
  const attackers: Attacker[] = [];
  for (let c = 0; c < connections; c++) {
    const attacker = await connectAttacker(service.grpc);
    attackers.push(attacker);
    for (let i = 0; i < calls && !attacker.isClosed(); i++) {
      await attacker.send(make(1 + 2 * i));
      await heard(attacker);
    }
  }
  return leaving(attackers);
}

it('answers others while a domain of 2 MB is asked for by 50 descriptors', async () => {
  const service = await sharedService();
  const domain = '1.1.1.1 '.repeat(262_144);
  const request = { domain, descriptors: new Array(50).fill({ entries: [{ key: 'k' }] }) };
  await expectToWithstand(service, async () => {
    await askAll(service, 3, () => request, 3);
    return undefined;
  });
});

it('lives when half a million descriptors come in 49 kB while the store hangs', async () => {
  const { redis, env } = await inRedis();
  const service = await startSmallService(ONE_RULE, env);
  redis.pause();
  const entry = bytesField(2, bytesField(1, bytesField(1, 'k')));
  const message = Buffer.concat([
    bytesField(1, 'd'),
    // Noise in a field that nobody knows: the ratio is within bounds.
    bytesField(15, randomBytes(41_000)),
    ...new Array<Buffer>(466_000).fill(entry),
  ]);
  const call = packedCall(1, SHOULD_RATE_LIMIT, message);
  await expectToWithstand(service, () => callPacked(service, 14, 1, () => call));
});

it('answers others while two million descriptors come in 45 kB', async () => {
  const service = await sharedService();
  const message = Buffer.concat([
    bytesField(1, 'd'),
    bytesField(15, randomBytes(41_000)),
    Buffer.alloc(4_000_000, '1200', 'hex'),
  ]);
  const call = packedCall(1, SHOULD_RATE_LIMIT, message);
  await expectToWithstand(service, () => callPacked(service, 5, 1, () => call));
});

it('answers others while frames of 2,730 settings come on a connection of 4,000 streams', async () => {
  const service = await sharedService();
  const streams = Buffer.concat(
    Array.from({ length: 4_000 }, (_, at) => openGrpc(1 + 2 * at, SHOULD_RATE_LIMIT)),
  );
  const flapping = settings(
    ...Array.from({ length: 2_730 }, (_, at): [number, number] => [4, 65_535 + (at & 1)]),
  );
  await expectToWithstand(service, async () => {
    // No acknowledgement: until then the limit on streams is not in force.
    const attacker = await connectRaw(service.grpc);
    await attacker.send(PREFACE, settings(), streams);
    await attacker.send(...new Array<Buffer>(62).fill(flapping));
    await heard(attacker);
    return leaving([attacker]);
  });
});

it('bounds the work and the answers of reflection for callers that do not read', async () => {
  const service = await sharedService();
  const ask = grpcMessage(bytesField(3, 'envoy/service/ratelimit/v3/rls.proto'));
  const asked = Buffer.concat(new Array<Buffer>(381).fill(ask)).subarray(0, FRAME_BYTES);
  const pendingRequests = Array.from({ length: 4 }, (_, at) => {
    const whole = Buffer.concat(new Array<Buffer>(1_524).fill(ask));
    return data(1, whole.subarray(at * asked.length, (at + 1) * asked.length));
  });
  await expectToWithstand(service, async () => {
    const attackers: Attacker[] = [];
    for (let i = 0; i < 100; i++) {
      const attacker = await connectRaw(service.grpc);
      attacker.socket.pause();
      attackers.push(attacker);
      await attacker.send(PREFACE, settings([4, MAX_WINDOW]), frame(Type.settings, 1, 0));
      await attacker.send(windowUpdate(0, MAX_WINDOW - 65_535), openGrpc(1, REFLECTION));
      await attacker.send(...pendingRequests);
    }
    // Asked after all of them, and so read after them.
    for (let i = 0; i < 10; i++) await askAll(service, 1, () => ({ domain: 'd' }), 1);
    return leaving(attackers);
  });
});

it('does not keep the names that are watched', async () => {
  const service = await sharedService();
  const watch = bytesField(1, text(3_900_000));
  const calls = Array.from({ length: 75 }, (_, at) => packedCall(1 + 2 * at, WATCH, watch));
  await expectToWithstand(
    service,
    () => callPacked(service, 1, 75, (id) => calls[(id - 1) / 2] ?? Buffer.alloc(0)),
    { growthMb: 150 },
  );
});

it('holds a thousand watches at once without the names that they asked for', async () => {
  const service = await sharedService();
  const watch = (id: number) =>
    packedCall(id, WATCH, bytesField(1, `${String(id)}-${randomBytes(50_000).toString('base64')}`));
  await expectToWithstand(service, () => callPacked(service, 20, 50, watch), { growthMb: 50 });
});

const SAMPLED = ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'] as const;

async function startTraced(): Promise<Service> {
  const collector = await using(startHttpCollector());
  collector.hang();
  return startSmallService(ONE_RULE, {
    TRACING_ENABLED: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${String(collector.port)}`,
  });
}

it('does not keep domains of 3.9 MB in spans whose collector hangs', async () => {
  const service = await startTraced();
  const message = Buffer.concat([bytesField(1, text(3_900_000)), bytesField(2, '')]);
  const call = (id: number) => packedCall(id, SHOULD_RATE_LIMIT, message, SAMPLED);
  await expectToWithstand(service, () => callPacked(service, 5, 30, call), { growthMb: 150 });
});

it('does not keep bodies of 1 MB in spans whose collector hangs', async () => {
  const service = await startTraced();
  const body = (at: number) =>
    `{"domain":"a-domain-of-its-own-${String(at)}","descriptors":[{}]}`.padEnd(1_000_000);
  const headers = Object.fromEntries([SAMPLED]);
  const strike = async () => {
    for (let at = 0; at < 300; at++) await postJson(service, body(at), headers);
    return undefined;
  };
  await expectToWithstand(service, strike, { growthMb: 150 });
});
