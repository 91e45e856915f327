import { createWireTransport } from '../../src/transport/grpc/wire/transport';
import { startTransport } from '../support/transport-harness';
import { eventually } from '../support/edge/eventually';
import { connectAttacker, connectRaw } from '../support/edge/h2-attacker';

it('asks a connection to leave that a stopping transport accepts late', async () => {
  const { transport, address } = await startTransport((deps, options) =>
    createWireTransport({ ...deps, nowMs: () => 1_000, random: () => 0.5 }, options),
  );
  const early = await connectAttacker(address);
  await eventually(() => {
    expect(early.seen()).toContain('settings ack');
  });
  const silent = await connectRaw(address);
  const closed = transport.close(200);
  await Promise.all([closed, silent.closed, early.closed]);
});
