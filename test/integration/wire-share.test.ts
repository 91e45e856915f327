import { createWireTransport } from '../../src/transport/grpc/wire/transport';
import { createTestClient } from '../support/edge/grpc-client';
import { OK, startTransport } from '../support/transport-harness';
import { eventually } from '../support/edge/eventually';
import { connectAttacker } from '../support/edge/h2-attacker';

const REQUEST = { domain: 'edge', descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }] };

it('asks the youngest connections to leave, which get the answers that they wait for', async () => {
  const { transport, address, waiting } = await startTransport(
    (deps, options) => createWireTransport({ ...deps, random: () => 0.5 }, options),
    ({ hitsAddend }) => (hitsAddend > 0 ? undefined : OK),
  );
  const old = await connectAttacker(address);
  const young = await connectAttacker(address);
  const youngest = createTestClient(address);
  const asked = youngest.ask({ ...REQUEST, hitsAddend: 1 });
  await eventually(() => {
    expect([waiting.length, transport.share?.open]).toEqual([1, 3]);
    for (const caller of [old, young]) expect(caller.seen()).toContain('settings ack');
  });
  transport.share?.keep(1);
  expect(transport.share?.open).toBe(1);
  await young.closed;
  expect(old.seen().join()).not.toContain('goAway');
  for (const { responder, callId } of waiting) responder.answer(callId, OK);
  expect((await asked).code).toBe(0);
  transport.share?.keep(undefined);
  expect((await youngest.ask(REQUEST)).code).toBe(0);
  expect(transport.share?.open).toBe(2);
  youngest.close();
  await transport.close(0);
});
