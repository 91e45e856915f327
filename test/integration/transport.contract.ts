import { status } from '@grpc/grpc-js';
import { failure, type FailureCode } from '../../src/core/errors';
import type { Decision } from '../../src/core/model';
import type { GrpcTransportOptions } from '../../src/transport/grpc/options';
import { eventually } from '../support/edge/eventually';
import { expectFigure } from '../support/edge/figure';
import { connectAttacker, repeat, wholeCall } from '../support/edge/h2-attacker';
import { SHOULD_RATE_LIMIT, createTestClient, encodeRequest } from '../support/edge/grpc-client';
import {
  OK,
  startTransport,
  type CreateGrpcTransport,
  type Script,
} from '../support/transport-harness';

const REQUEST = { domain: 'edge', descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }] };
const CHECK = '/grpc.health.v1.Health/Check';
const WATCH = '/grpc.health.v1.Health/Watch';

/** A length-delimited field of less than 128 bytes. */
const field = (number: number, content: string) =>
  Buffer.concat([
    Buffer.from([(number << 3) | 2, Buffer.byteLength(content)]),
    Buffer.from(content),
  ]);

/** What every gRPC transport must keep, whichever engine carries it. */
export function describeGrpcTransport(name: string, create: CreateGrpcTransport): void {
  describe(`gRPC transport ${name}`, () => {
    const cleanups: (() => void | Promise<void>)[] = [];
    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    });

    const start = async (script?: Script, options: Partial<GrpcTransportOptions> = {}) => {
      const service = await startTransport(create, script, options);
      const client = createTestClient(service.address);
      cleanups.push(
        () => service.transport.close(0),
        () => {
          client.close();
        },
      );
      return { ...service, client };
    };

    it('hands over every field of a request', async () => {
      const { client, requests } = await start();
      const entries = [{ key: 'k_:\n\0', value: '🙂é' }];
      await client.ask({
        domain: 'edge',
        hitsAddend: 4_294_967_295,
        descriptors: [
          { entries },
          { entries, limit: { requestsPerUnit: 7, unit: 7 }, hitsAddend: { value: '0' } },
          { entries, limit: { unit: 4711 }, hitsAddend: { value: '9007199254740992' } },
          { entries: [], hitsAddend: { value: '5' }, isNegativeHits: true },
        ],
      });
      const none = { entries, limit: undefined, hits: undefined, isNegativeHits: false };
      expect(requests()).toEqual([
        {
          domain: 'edge',
          hitsAddend: 4_294_967_295,
          descriptors: [
            none,
            { ...none, limit: { requestsPerUnit: 7, unit: 7 }, hits: 0 },
            { ...none, limit: { requestsPerUnit: 0, unit: 4711 }, hits: 9_007_199_254_740_992n },
            { ...none, entries: [], hits: 5, isNegativeHits: true },
          ],
        },
      ]);
    });

    it('answers every field of a decision', async () => {
      const decision: Decision = {
        kind: 'decision',
        overallCode: 'OVER_LIMIT',
        statuses: [
          {
            code: 'OVER_LIMIT',
            currentLimit: { requestsPerUnit: 3, unit: 'WEEK', name: 'rule' },
            limitRemaining: 0,
            secondsUntilReset: 599,
          },
          {
            code: 'OK',
            currentLimit: undefined,
            limitRemaining: 4_294_967_295,
            secondsUntilReset: undefined,
          },
        ],
        responseHeaders: [{ key: 'RateLimit-Limit', value: '3' }],
        dynamicMetadata: { owner: 'é', tags: [1, null, { deep: true }] },
      };
      const { client } = await start(() => decision);
      const { code, response } = await client.ask(REQUEST);
      expect(code).toBe(status.OK);
      expect(response).toEqual({
        overallCode: 'OVER_LIMIT',
        statuses: [
          {
            code: 'OVER_LIMIT',
            currentLimit: { requestsPerUnit: 3, unit: 'WEEK', name: 'rule' },
            durationUntilReset: { seconds: '599' },
          },
          { code: 'OK', limitRemaining: 4_294_967_295 },
        ],
        responseHeadersToAdd: [{ key: 'RateLimit-Limit', value: '3' }],
        dynamicMetadata: {
          fields: {
            owner: { stringValue: 'é' },
            tags: {
              listValue: {
                values: [
                  { numberValue: 1 },
                  { nullValue: 'NULL_VALUE' },
                  { structValue: { fields: { deep: { boolValue: true } } } },
                ],
              },
            },
          },
        },
      });
    });

    it.each<[FailureCode, number]>([
      ['invalid_request', status.INVALID_ARGUMENT],
      ['no_rules', status.UNAVAILABLE],
      ['store_unavailable', status.UNAVAILABLE],
      ['store_timeout', status.DEADLINE_EXCEEDED],
      ['draining', status.UNAVAILABLE],
      ['internal', status.INTERNAL],
    ])('ends a call that failed with %s with status %i and the message', async (code, expected) => {
      const { client } = await start(() => failure(code, 'no decision: é 100 %\nnext line'));
      expect(await client.ask(REQUEST)).toEqual({
        code: expected,
        details: 'no decision: é 100 %\nnext line',
        response: undefined,
      });
    });

    it('cuts a message that no header could carry', async () => {
      const { client } = await start(() => failure('invalid_request', '🙂'.repeat(50_000)));
      const { code, details } = await client.ask(REQUEST);
      expect(code).toBe(status.INVALID_ARGUMENT);
      expect(details).toMatch(/^(🙂)+…$/u);
    });

    it('ends a call at its deadline and ignores the answer that comes too late', async () => {
      const { client, waiting, times } = await start(({ domain }) =>
        domain === 'slow' ? undefined : OK,
      );
      // Connects, so that the deadline is the call's alone.
      await client.ask(REQUEST);
      const { code } = await client.ask({ ...REQUEST, domain: 'slow' }, 300);
      expect(code).toBe(status.DEADLINE_EXCEEDED);
      // Whoever asked waited to the end: the request may go on without the answer.
      expect(waiting.map(({ responder, callId }) => responder.hasLeft?.(callId))).toEqual([false]);
      for (const { responder, callId } of waiting) responder.answer(callId, OK);
      expect((await client.ask(REQUEST)).code).toBe(status.OK);
      await eventually(() => {
        expect(times.get('ratelimit_server.ShouldRateLimit.response_time')).toBe(3);
      });
    });

    it('times a call that was cancelled by its answer, which nobody takes', async () => {
      const { client, waiting, times } = await start(({ domain }) =>
        domain === 'slow' ? undefined : OK,
      );
      const request = encodeRequest({ ...REQUEST, domain: 'slow' });
      const { result, cancel } = client.unary(SHOULD_RATE_LIMIT, request);
      await eventually(() => {
        expect(waiting).toHaveLength(1);
      });
      cancel.now();
      expect((await result).code).toBe(status.CANCELLED);
      // Its cancellation was read before this answer is given.
      expect((await client.ask(REQUEST)).code).toBe(status.OK);
      expect(waiting.map(({ responder, callId }) => responder.hasLeft?.(callId))).toEqual([true]);
      const [taken] = waiting.map(({ responder, callId }) => responder.answer(callId, OK));
      expect(taken).toBe(false);
      await eventually(() => {
        expect(times.get('ratelimit_server.ShouldRateLimit.response_time')).toBe(2);
      });
    });

    it('knows that a client that ended its side, with calls that wait, has left', async () => {
      const { address, waiting } = await start(() => undefined);
      const { socket, send } = await connectAttacker(address);
      await send(repeat(3, wholeCall));
      await eventually(() => {
        expect(waiting).toHaveLength(3);
      });
      const left = () => waiting.map(({ responder, callId }) => responder.hasLeft?.(callId));
      expect(left()).toEqual([false, false, false]);
      socket.end();
      // Long before the connection is cut for it.
      await eventually(
        () => {
          expect(left()).toEqual([true, true, true]);
        },
        { withinMs: 5_000 },
      );
      for (const { responder, callId } of waiting) responder.answer(callId, OK);
      socket.destroy();
    });

    it('gathers the calls of one turn into one batch', async () => {
      const { client, batches, requests } = await start();
      await client.ask(REQUEST);
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) => client.ask({ ...REQUEST, hitsAddend: index })),
      );
      expect(answers.map(({ code }) => code)).toEqual(Array(100).fill(status.OK));
      expect(new Set(requests().map(({ hitsAddend }) => hitsAddend)).size).toBe(100);
      expect(batches.length).toBeLessThan(50);
    });

    it('gives every call its own answer', async () => {
      const { client, waiting } = await start(() => undefined);
      const results = [1, 2, 3].map((hits) => client.ask({ ...REQUEST, hitsAddend: hits }));
      await eventually(() => {
        expect(waiting).toHaveLength(3);
      });
      for (const { responder, callId, request } of [...waiting].reverse()) {
        responder.answer(callId, failure('internal', `call ${String(request.hitsAddend)}`));
      }
      const details = (await Promise.all(results)).map((result) => result.details);
      expect(details).toEqual(['call 1', 'call 2', 'call 3']);
    });

    it('counts calls and times answers', async () => {
      const { client, counts, times } = await start();
      await client.ask(REQUEST);
      await client.askBytes(Buffer.from([0xff]));
      await client.unary(CHECK, field(1, 'nobody')).result;
      expect(Object.fromEntries(counts)).toEqual({
        'ratelimit_server.ShouldRateLimit.total_requests': 2,
        'ratelimit_server.Check.total_requests': 1,
      });
      expect(Object.fromEntries(times)).toEqual({
        'ratelimit_server.ShouldRateLimit.response_time': 2,
        'ratelimit_server.Check.response_time': 1,
      });
    });

    describe('health', () => {
      it.each(['', 'ratelimit'])('answers for the service name "%s"', async (service) => {
        const { client, health } = await start();
        const request = service === '' ? Buffer.alloc(0) : field(1, service);
        expect((await client.unary(CHECK, request).result).bytes).toEqual(Buffer.from([8, 1]));
        health.set({ serving: false, down: ['config'] });
        expect((await client.unary(CHECK, request).result).bytes).toEqual(Buffer.from([8, 2]));
      });

      it('refuses a question that is none', async () => {
        const { client } = await start();
        const bytes = Buffer.from([0x0a, 0x09]);
        expect((await client.unary(CHECK, bytes).result).code).toBe(status.INVALID_ARGUMENT);
        expect(await client.stream(WATCH, bytes).ended).toBe(status.INVALID_ARGUMENT);
      });

      it('refuses a name above 1,024 bytes, and keeps a watch of an unknown shorter one', async () => {
        const { client, health } = await start();
        const named = (bytes: number) =>
          Buffer.concat([
            Buffer.from([0x0a, 0x80 | (bytes & 127), bytes >> 7]),
            Buffer.alloc(bytes, 'n'),
          ]);
        const { code } = await client.unary(CHECK, named(1_025)).result;
        expect(code).toBe(status.INVALID_ARGUMENT);
        expect(await client.stream(WATCH, named(1_025)).ended).toBe(status.INVALID_ARGUMENT);
        expect((await client.unary(CHECK, named(1_024)).result).code).toBe(status.NOT_FOUND);
        const watch = client.stream(WATCH, named(1_024));
        const known = client.stream(WATCH, Buffer.alloc(0));
        await eventually(() => {
          expect([watch.messages.length, known.messages.length]).toEqual([1, 1]);
        });
        health.set({ serving: false, down: ['config'] });
        await eventually(() => {
          expect(known.messages).toHaveLength(2);
        });
        expect(watch.messages).toEqual([Buffer.from([8, 3])]);
        for (const each of [watch, known]) each.cancel();
      });

      it('tells watchers of every change, once', async () => {
        const { client, health } = await start();
        const watch = client.stream(WATCH, Buffer.alloc(0));
        await eventually(() => {
          expect(watch.messages).toEqual([Buffer.from([8, 1])]);
        });
        health.set({ serving: false, down: ['config'] });
        health.set({ serving: false, down: ['config', 'redis'] });
        health.set({ serving: true, down: [] });
        await eventually(() => {
          expect(watch.messages).toEqual(
            [
              [8, 1],
              [8, 2],
              [8, 1],
            ].map((bytes) => Buffer.from(bytes)),
          );
        });
        watch.cancel();
        expect(await watch.ended).toBe(status.CANCELLED);
      });
    });

    describe.each(['v1', 'v1alpha'])('reflection %s', (version) => {
      const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;

      it('answers a thousand questions in their order', async () => {
        const { client } = await start();
        const names = Array.from({ length: 1_000 }, (_, i) => `no.such.Symbol${String(i)}`);
        const { code, answers } = await client.exchange(
          path,
          names.map((name) => field(4, name)),
        );
        expect(code).toBe(status.OK);
        expect(answers).toHaveLength(names.length);
        answers.forEach((answer, i) => {
          expect(answer.includes(`symbol "${String(names[i])}" is not known`)).toBe(true);
        });
      });
    });

    describe('close', () => {
      it('answers what is in flight, refuses the new, and completes', async () => {
        const { client, waiting, transport, completed, health, address } = await start(
          () => undefined,
        );
        const pending = client.ask(REQUEST);
        await eventually(() => {
          expect(waiting).toHaveLength(1);
        });
        const closed = transport.close(10_000);
        const late = createTestClient(address);
        cleanups.push(() => {
          late.close();
        });
        expect((await late.ask(REQUEST)).code).toBe(status.UNAVAILABLE);
        for (const { responder, callId } of waiting) responder.answer(callId, OK);
        expect((await pending).code).toBe(status.OK);
        await closed;
        health.close();
        expect(completed).toEqual(['questions$', 'run$']);
        await transport.close(10_000);
      });

      it('cuts what is not answered in time', async () => {
        const { client, waiting, transport } = await start(() => undefined);
        const pending = client.ask(REQUEST);
        await eventually(() => {
          expect(waiting).toHaveLength(1);
        });
        await transport.close(50);
        expect((await pending).code).not.toBe(status.OK);
        for (const { responder, callId } of waiting) responder.answer(callId, OK);
      });

      it('tells watchers that it is stopping', async () => {
        const { client, transport } = await start();
        const watch = client.stream(WATCH, Buffer.alloc(0));
        await eventually(() => {
          expect(watch.messages).toHaveLength(1);
        });
        await transport.close(10_000);
        expect(await watch.ended).toBe(status.UNAVAILABLE);
      });

      it('is possible before the start', async () => {
        const { transport } = await startTransport(create);
        await transport.close(0);
        await transport.close(0);
      });
    });

    it('cuts a call that waits beyond the age of its connection and the grace, and answers the next', async () => {
      const { client, waiting } = await start(
        ({ domain }) => (domain === 'slow' ? undefined : OK),
        { maxConnectionAgeMs: 200, maxConnectionAgeGraceMs: 200 },
      );
      const startedAtMs = performance.now();
      const { code } = await client.ask({ ...REQUEST, domain: 'slow' }, 10_000);
      const tookMs = performance.now() - startedAtMs;
      expect([status.UNAVAILABLE, status.CANCELLED, status.INTERNAL]).toContain(code);
      // An age is shorter by up to a tenth, a look at it later by up to a quarter of a second.
      expect(tookMs).toBeGreaterThan(350);
      expectFigure({ name: 'cut', value: tookMs, unit: 'ms', below: 5_000 });
      expect((await client.ask(REQUEST)).code).toBe(status.OK);
      for (const { responder, callId } of waiting) responder.answer(callId, OK);
    });

    it('names the address that it cannot listen on', async () => {
      const { address } = await start();
      const port = Number(address.split(':')[1]);
      const second = startTransport(create, undefined, { address: { host: '127.0.0.1', port } });
      await expect(second).rejects.toThrow(
        `cannot listen on 127.0.0.1:${String(port)}: address already in use`,
      );
    });
  });
}
