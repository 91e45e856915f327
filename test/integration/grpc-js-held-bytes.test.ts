import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { ByteBudget } from '../../src/platform/byte-budget';
import { createGrpcJsTransport } from '../../src/transport/grpc/grpc-js/transport';
import { createTestClient, encodeRequest, SHOULD_RATE_LIMIT } from '../support/edge/grpc-client';
import { OK, startTransport, type Script } from '../support/transport-harness';
import { eventually } from '../support/edge/eventually';
import { message } from '../unit/wire/grpc/grpc-caller';

const MAX_BYTES = 1_000_000;
const LARGE = 'v'.repeat(60_000);
const request = (entries: number) => ({
  domain: 'edge',
  descriptors: [{ entries: Array.from({ length: entries }, () => ({ key: 'k', value: LARGE })) }],
});
const WORDY = { ...OK, responseHeaders: [{ key: 'x', value: 'v'.repeat(200_000) }] };

/** Connections of another port hold so many bytes. */
const others = (budget: ByteBudget, bytes: number) => {
  const holder = { heldBytes: 0, end: () => undefined };
  budget.report(holder, bytes);
  return () => {
    budget.report(holder, 0);
  };
};

describe('the bytes that calls of the grpc-js transport hold', () => {
  let stop: () => Promise<void> = () => Promise.resolve();
  afterEach(() => stop());

  const serve = async (budget: ByteBudget, script?: Script, path?: string) => {
    const service = await startTransport(
      (deps, options) => createGrpcJsTransport({ ...deps, budget }, options),
      script,
      path === undefined ? {} : { address: { path } },
    );
    const client = createTestClient(service.address);
    stop = async () => {
      client.close();
      await service.transport.close(100);
    };
    return { ...service, client };
  };

  it('are those of requests until they are answered', async () => {
    const budget = new ByteBudget(MAX_BYTES);
    const { client, waiting } = await serve(budget, () => undefined);
    const answered = client.ask(request(5));
    // On a busy machine a shorter deadline would pass before the call is sent.
    void client.ask(request(1), 3_000);
    await eventually(() => {
      expect(budget.heldBytes).toBeGreaterThan(360_000);
    });
    await eventually(() => {
      // The deadline of the small one has passed.
      expect(budget.heldBytes).toBeLessThan(310_000);
    });
    for (const { responder, callId } of waiting) responder.answer(callId, OK);
    expect((await answered).code).toBe(status.OK);
    await eventually(() => {
      expect(budget.heldBytes).toBe(0);
    });
  });

  it('are those of answers that nobody reads', async () => {
    const budget = new ByteBudget(MAX_BYTES);
    const { address } = await serve(budget, () => WORDY);
    const session = connect(`http://${address}`, { settings: { initialWindowSize: 0 } });
    session.on('error', () => undefined);
    const call = session.request({
      ':method': 'POST',
      ':path': SHOULD_RATE_LIMIT,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    call.on('error', () => undefined);
    call.end(message(encodeRequest(request(0))));
    await eventually(() => {
      expect(budget.heldBytes).toBeGreaterThan(200_000);
    });
    session.destroy();
    await eventually(() => {
      expect(budget.heldBytes).toBe(0);
    });
  });

  it('let new calls be refused until there is room again', async () => {
    const budget = new ByteBudget(MAX_BYTES);
    const { client, requests } = await serve(budget);
    expect((await client.ask(request(0))).code).toBe(status.OK);
    const releases = Array.from({ length: 10 }, () => others(budget, 100_001));
    const refused = await client.ask(request(0));
    expect([refused.code, refused.details]).toEqual([
      status.RESOURCE_EXHAUSTED,
      'the service holds too many bytes for its clients',
    ]);
    for (const release of releases) release();
    expect((await client.ask(request(0))).code).toBe(status.OK);
    expect(requests()).toHaveLength(2);
  });

  it.each(['a port', 'a Unix socket'])(
    'end the connection that holds most when they are too many, on %s',
    async (place) => {
      const folder = await mkdtemp(join(tmpdir(), 'weir-held-'));
      const path = place === 'a port' ? undefined : join(folder, 'socket');
      const budget = new ByteBudget(MAX_BYTES);
      const { client, waiting } = await serve(budget, () => undefined, path);
      for (let i = 0; i < 10; i++) others(budget, 80_000);
      const ended = await client.ask(request(4));
      expect(ended.code).toBe(status.UNAVAILABLE);
      expect(budget.heldBytes).toBe(800_000);
      for (const { responder, callId } of waiting) responder.answer(callId, WORDY);
      expect(budget.heldBytes).toBe(800_000);
      await rm(folder, { recursive: true });
    },
  );
});
