import type { Http2Failure } from '../../../src/wire/http2/api';
import type { ByteBudget } from '../../../src/platform/byte-budget';
import { createWireTransport } from '../../../src/transport/grpc/wire/transport';
import { startTransport, type Script } from '../transport-harness';
import type { GrpcTransportOptions } from '../../../src/transport/grpc/options';
import { createRawCaller } from './raw-caller';

/** A transport on loopback whose clock the test alone moves; the timers are real and look at that clock. */
export async function startWire(
  script?: Script,
  options: Partial<GrpcTransportOptions> = {},
  budget?: ByteBudget,
) {
  const failures: Http2Failure[] = [];
  const callers: ReturnType<typeof createRawCaller>[] = [];
  let nowMs = 1_000;
  const service = await startTransport(
    (deps, all) =>
      createWireTransport(
        {
          ...deps,
          nowMs: () => nowMs,
          random: () => 0.5,
          budget,
          onConnectionFailure: (failure) => failures.push(failure),
        },
        all,
      ),
    script,
    options,
  );
  const port = Number(service.address.split(':')[1]);
  return {
    ...service,
    failures,
    port,
    passMs: (milliseconds: number) => {
      nowMs += milliseconds;
    },
    connect: () => {
      const caller = createRawCaller(port);
      callers.push(caller);
      return caller;
    },
    stop: async () => {
      await service.transport.close(0);
      for (const { socket } of callers) socket.destroy();
    },
  };
}
