import { getEventListeners } from 'node:events';
import {
  createRateLimiter,
  RateLimiterError,
  type ErrorPolicy,
  type RateLimiterOptions,
} from '../../src/client';
import { failure } from '../../src/core/errors';
import type { Decision, DecisionRequest } from '../../src/core/model';
import { createGrpcJsTransport } from '../../src/transport/grpc/grpc-js/transport';
import type { GrpcTransportOptions } from '../../src/transport/grpc/options';
import { createWireTransport } from '../../src/transport/grpc/wire/transport';
import {
  OK,
  startTransport,
  type CreateGrpcTransport,
  type Script,
} from '../support/transport-harness';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { startRawRateLimitServer } from '../support/edge/raw-rate-limit-server';
import { startTcpProxy } from '../support/edge/tcp-proxy';
import { TEST_CA, TEST_CERTIFICATE, TEST_KEY } from './transport.certificates';

const ANN = [['user', 'ann']] as const;
/** Far more than an answer takes: what has to be decided is not ended by its deadline. */
const PATIENT = { timeoutMs: 20_000, settleTimeoutMs: 20_000 };

const createWire: CreateGrpcTransport = (deps, options) =>
  createWireTransport({ ...deps, random: () => 0.5 }, options);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(script?: Script, options: Partial<GrpcTransportOptions> = {}) {
  const service = await startTransport(createWire, script, options);
  cleanups.push(() => service.transport.close(0));
  return service;
}

function limiterOf(target: string, options: Partial<RateLimiterOptions> = {}) {
  const limiter = createRateLimiter({ target, domain: 'shop', ...PATIENT, ...options });
  cleanups.push(() => limiter.close());
  return limiter;
}

async function proxied(target: string) {
  const proxy = await startTcpProxy(Number(target.split(':')[1]));
  cleanups.push(() => proxy.close());
  return { proxy, address: `127.0.0.1:${String(proxy.port)}` };
}

describe('check', () => {
  it('asks about every descriptor and answers with the nearest limit', async () => {
    const decision: Decision = {
      ...OK,
      statuses: [
        limitOf({ limitRemaining: 7, secondsUntilReset: 30 }),
        { code: 'OK', currentLimit: undefined, limitRemaining: 0, secondsUntilReset: undefined },
        limitOf({ limitRemaining: 3, secondsUntilReset: 9 }),
      ],
      responseHeaders: [{ key: 'RateLimit', value: '"10-per-minute";r=3;t=9' }],
    };
    const { address, requests } = await start(() => decision);
    const limiter = limiterOf(address);
    const three = [ANN, [['free', '']], [...ANN, ['path', '/ü']]] as const;
    const { allowed, limit, remaining, resetSeconds, headers, limits, error } = await limiter.check(
      three,
      { hits: 3 },
    );
    expect({ allowed, limit, remaining, resetSeconds, error }).toEqual({
      allowed: true,
      limit: 10,
      remaining: 3,
      resetSeconds: 9,
      error: undefined,
    });
    expect(headers).toEqual({ RateLimit: '"10-per-minute";r=3;t=9' });
    expect(limits.map((one) => one?.remaining)).toEqual([7, undefined, 3]);
    const none = { limit: undefined, hits: undefined, isNegativeHits: false };
    const user = { key: 'user', value: 'ann' };
    expect(requests()).toEqual([
      {
        domain: 'shop',
        hitsAddend: 3,
        descriptors: [
          { ...none, entries: [user] },
          { ...none, entries: [{ key: 'free', value: '' }] },
          { ...none, entries: [user, { key: 'path', value: '/ü' }] },
        ],
      },
    ]);
    expect(limiter.stats()).toEqual({
      ...{ inFlight: 0, decided: 1, refused: 0, failed: 0, unsettled: 0 },
    });
  });

  it('says when a refused request may come back, and counts it', async () => {
    const decision: Decision = {
      ...OK,
      overallCode: 'OVER_LIMIT',
      statuses: [
        limitOf({ code: 'OVER_LIMIT', secondsUntilReset: 5 }),
        limitOf({ code: 'OVER_LIMIT', secondsUntilReset: 600 }),
        limitOf({ limitRemaining: 1, secondsUntilReset: 3_600 }),
      ],
    };
    const { address } = await start(() => decision);
    const limiter = limiterOf(address);
    expect(await limiter.check([ANN, ANN, ANN])).toMatchObject({
      ...{ allowed: false, remaining: 0, resetSeconds: 600, headers: { 'Retry-After': '600' } },
    });
    expect(limiter.stats()).toMatchObject({ decided: 1, refused: 1 });
  });

  it('keeps the headers and the body of the service', async () => {
    const decision: Decision = {
      ...OK,
      overallCode: 'OVER_LIMIT',
      statuses: [limitOf({ code: 'OVER_LIMIT', secondsUntilReset: 5 })],
      responseHeaders: [
        { key: 'Retry-After', value: '6' },
        { key: 'bad name', value: '1' },
        { key: 'x-bad-value', value: 'a\nb' },
        { key: '__proto__', value: 'x' },
      ],
      rawBody: '{"title":"zu viel, später"}',
    };
    const { address } = await start(() => decision);
    const { headers, body } = await limiterOf(address).check([ANN]);
    expect(Object.entries(headers)).toEqual([
      ['Retry-After', '6'],
      ['__proto__', 'x'],
    ]);
    expect(body).toBe('{"title":"zu viel, später"}');
  });

  it('uses one connection, also for many calls at once', async () => {
    const { address, requests } = await start();
    const { proxy, address: near } = await proxied(address);
    const limiter = limiterOf(near);
    await Promise.all(Array.from({ length: 500 }, () => limiter.check([ANN])));
    expect(requests()).toHaveLength(500);
    expect(proxy.accepted).toBe(1);
  });

  it('asks over TLS by the name on the certificate', async () => {
    const [certificate, key] = [TEST_CERTIFICATE, TEST_KEY].map((pem) => Buffer.from(pem));
    const tls = { certificate: certificate as Buffer, key: key as Buffer, clientCa: undefined };
    const { address } = await start(undefined, { tls });
    const trusted = limiterOf(address, { tls: { ca: TEST_CA, serverName: 'rls.test' } });
    expect(await trusted.check([ANN])).toMatchObject({ allowed: true, error: undefined });
    const foreign = limiterOf(address, { tls: true });
    expect(await foreign.check([ANN])).toMatchObject({ error: { code: 'unavailable' } });
  });
});

describe('quota', () => {
  it('looks at every descriptor and charges nothing', async () => {
    const { address, requests } = await start(() => ({ ...OK, statuses: [limitOf({})] }));
    const { limits } = await limiterOf(address).quota([ANN, [['team', 'a']]]);
    expect(limits).toEqual([
      {
        ...{ name: 'ten', limit: 10, unit: 'minute', unitMultiplier: 1 },
        ...{ remaining: 0, resetSeconds: 0, limited: false },
      },
    ]);
    expect(requests()[0]?.descriptors.map(({ hits }) => hits)).toEqual([0, 0]);
  });
});

describe('reservations', () => {
  it('send the descriptor with one entry more and hits of its own', async () => {
    const { address, requests } = await start();
    const limiter = limiterOf(address);
    await limiter.reserve(ANN, 'id-1', 500);
    await limiter.settle(ANN, 'id-1', 2 ** 53 - 1);
    await limiter.settle(ANN, 'id-1');
    expect(requests().map(({ hitsAddend }) => hitsAddend)).toEqual([0, 0, 0]);
    expect(
      requests().flatMap(({ descriptors }) =>
        descriptors.map(({ entries, hits }) => [...entries.map(Object.values), hits]),
      ),
    ).toEqual([
      [['user', 'ann'], ['reserve', 'id-1'], 500],
      [['user', 'ann'], ['settle', 'id-1'], 2 ** 53 - 1],
      [['user', 'ann'], ['settle', 'id-1'], undefined],
    ]);
  });

  it('send 0 hits as a message that is there and empty', async () => {
    const server = await startRawRateLimitServer(() => Buffer.from([0x08, 0x01]));
    cleanups.push(server.stop);
    const limiter = limiterOf(server.address);
    await limiter.reserve(ANN, 'i', 0);
    await limiter.settle(ANN, 'i', 0);
    const entries = (step: string) => `\n\x0b\n\x04user\x12\x03ann\n${step}\x12\x01i`;
    const inside = [entries('\x0c\n\x07reserve'), entries('\x0b\n\x06settle')].map(
      (text) => `${text}\x1a\x00`,
    );
    expect(server.requests.map((bytes) => bytes.toString('latin1'))).toEqual(
      inside.map((text) => `\n\x04shop\x12${String.fromCharCode(text.length)}${text}`),
    );
  });

  it('answers a reserve as a check', async () => {
    const over: Decision = {
      ...OK,
      overallCode: 'OVER_LIMIT',
      statuses: [limitOf({ code: 'OVER_LIMIT', secondsUntilReset: 1 })],
    };
    const { address } = await start(() => over);
    const limiter = limiterOf(address);
    expect(await limiter.reserve(ANN, 'i', 5)).toMatchObject({ allowed: false, resetSeconds: 1 });
    const away = limiterOf(`127.0.0.1:${String(await freePort())}`, { timeoutMs: 50 });
    expect(await away.reserve(ANN, 'i', 5)).toMatchObject({ allowed: true, limits: [] });
  });

  it('tries a settle again once', async () => {
    let calls = 0;
    const { address } = await start(() => {
      calls += 1;
      return calls === 1 ? failure('internal', 'a fault') : OK;
    });
    const limiter = limiterOf(address);
    expect(await limiter.settle(ANN, 'i', 3)).toEqual({ settled: true, error: undefined });
    expect(calls).toBe(2);
    expect(limiter.stats().unsettled).toBe(0);
  });

  const stepsOf = (requests: readonly DecisionRequest[]) =>
    requests.flatMap(({ descriptors }) =>
      descriptors.map(({ entries, hits }) => [entries.at(-1)?.key, entries.at(-1)?.value, hits]),
    );

  it.each([
    ['deny', 'deny'],
    ['a function that says deny', () => 'deny' as const],
  ] as const)('are settled with 0 where there is no decision, under %s', async (_what, onError) => {
    let calls = 0;
    const { address, requests } = await start(() => {
      calls += 1;
      return calls === 1 ? failure('store_timeout', 'the store takes too long') : OK;
    });
    const limiter = limiterOf(address, { onError });
    expect(await limiter.reserve(ANN, 'i', 5)).toMatchObject({
      allowed: false,
      error: { code: 'timeout' },
    });
    await limiter.close();
    expect(stepsOf(requests())).toEqual([
      ['reserve', 'i', 5],
      ['settle', 'i', 0],
    ]);
    expect(limiter.stats()).toMatchObject({ inFlight: 0, failed: 1, unsettled: 0 });
  });

  it('are settled with 0 where onError throws, and the call rejects with what it throws', async () => {
    let calls = 0;
    const { address, requests } = await start(() =>
      calls++ === 0 ? failure('internal', 'a fault') : OK,
    );
    const limiter = limiterOf(address, {
      onError: () => {
        throw new Error('no');
      },
    });
    await expect(limiter.reserve(ANN, 'i', 5)).rejects.toThrow('no');
    await limiter.close();
    expect(stepsOf(requests()).map(([step]) => step)).toEqual(['reserve', 'settle']);
  });

  it('stay open where they are allowed without a decision, or refused by one', async () => {
    const over: Decision = { ...OK, overallCode: 'OVER_LIMIT' };
    for (const answer of [over, failure('internal', 'a fault')]) {
      const { address, requests } = await start(() => answer);
      const limiter = limiterOf(address, { onError: answer === over ? 'deny' : 'allow' });
      await limiter.reserve(ANN, 'i', 5);
      await limiter.close();
      expect(stepsOf(requests())).toEqual([['reserve', 'i', 5]]);
    }
  });

  it('are settled all, however many at once, beside a thousand calls that wait', async () => {
    const { address, waiting, requests } = await start((request) =>
      request.descriptors[0]?.entries.at(-1)?.key === 'settle' ? OK : undefined,
    );
    const limiter = limiterOf(address);
    const flood = Array.from({ length: 1_000 }, () => limiter.check([ANN]));
    const settled = Array.from({ length: 5_000 }, (_, at) => limiter.settle(ANN, String(at), 1));
    const closed = limiter.close();
    expect(await Promise.all(settled)).toEqual(
      settled.map(() => ({ settled: true, error: undefined })),
    );
    for (const { responder, callId } of waiting) responder.answer(callId, OK);
    await Promise.all(flood);
    await closed;
    expect(new Set(stepsOf(requests()).map(([, id]) => id)).size).toBe(5_001);
  });

  it('counts a settle that failed twice, and fails nobody', async () => {
    let calls = 0;
    const { address } = await start(() => {
      calls += 1;
      return failure('internal', 'a fault');
    });
    const limiter = limiterOf(address, {
      onError: () => {
        throw new Error('onError has no say in it');
      },
    });
    expect(await limiter.settle(ANN, 'i', 3)).toMatchObject({
      settled: false,
      error: { code: 'failed' },
    });
    expect(calls).toBe(2);
    expect(await limiter.settle([], 'i')).toMatchObject({
      settled: false,
      error: { message: 'descriptor is a list of 0, expected a list of at least one [key, value]' },
    });
    expect(limiter.stats()).toMatchObject({ unsettled: 2, failed: 0, inFlight: 0 });
  });

  it('settles once the service is back, within the deadline of the second attempt', async () => {
    const { address, requests } = await start();
    const { proxy, address: near } = await proxied(address);
    const limiter = limiterOf(near);
    await limiter.check([ANN]);
    proxy.behaviour.swallow = 'answers';
    const settled = limiter.settle(ANN, 'i', 3);
    await eventually(() => {
      expect(requests()).toHaveLength(2);
    });
    proxy.behaviour.swallow = 'nothing';
    proxy.reset();
    expect(await settled).toEqual({ settled: true, error: undefined });
    expect(requests()).toHaveLength(3);
  });
});

describe('without a decision', () => {
  it('a service that does not answer holds nobody beyond the deadline', async () => {
    const { address, waiting } = await start(() => undefined);
    const limiter = limiterOf(address, { timeoutMs: 200 });
    const decision = await limiter.check([ANN]);
    expect(decision).toMatchObject({ allowed: true, limits: [], headers: {} });
    expect(decision.error?.code).toBe('timeout');
    expect(decision.error?.message).toMatch(
      /^no decision from 127\.0\.0\.1:\d+: Deadline exceeded .* \(DEADLINE_EXCEEDED\)$/,
    );
    expect(waiting).toHaveLength(1);
    expect(limiter.stats()).toMatchObject({ inFlight: 0, failed: 1, decided: 0 });
  });

  it('a slow service is as good as one that does not answer', async () => {
    const { address } = await start();
    const { proxy, address: near } = await proxied(address);
    const limiter = limiterOf(near, { timeoutMs: 300 });
    await eventually(async () => {
      expect(await limiter.check([ANN])).toMatchObject({ error: undefined });
    });
    proxy.behaviour.answerDelayMs = 2_000;
    expect(await limiter.check([ANN])).toMatchObject({ error: { code: 'timeout' } });
  });

  it.each(['allow', 'deny'] as const)(
    '`onError: %s` decides while the service is away',
    async (onError) => {
      const limiter = limiterOf(`127.0.0.1:${String(await freePort())}`, { onError });
      const decision = await limiter.check([ANN]);
      expect(decision.allowed).toBe(onError === 'allow');
      expect(decision.error).toBeInstanceOf(RateLimiterError);
      expect(decision.error?.code).toBe('unavailable');
      expect(decision.error?.message).toMatch(
        /^no decision from 127\.0\.0\.1:\d+: .*connection refused.* \(UNAVAILABLE\)$/,
      );
      expect(decision.headers).toEqual(onError === 'allow' ? {} : { 'Retry-After': '1' });
    },
  );

  it('a function decides by the error, and what it throws is thrown', async () => {
    const { address } = await start(({ domain }) =>
      failure(domain === 'shop' ? 'invalid_request' : 'internal', 'no'),
    );
    const seen: string[] = [];
    const onError = ({ code }: RateLimiterError): ErrorPolicy => {
      seen.push(code);
      if (code === 'invalid_request') return 'deny';
      throw new Error('as it likes');
    };
    expect(await limiterOf(address, { onError }).check([ANN])).toMatchObject({ allowed: false });
    const other = limiterOf(address, { onError, domain: 'other' });
    await expect(other.check([ANN])).rejects.toThrow('as it likes');
    expect(seen).toEqual(['invalid_request', 'failed']);
  });

  it('an answer without a code is none', async () => {
    const server = await startRawRateLimitServer(() => Buffer.from([0x08, 0x63]));
    cleanups.push(server.stop);
    const { error } = await limiterOf(server.address).check([ANN]);
    expect(error).toMatchObject({
      code: 'bad_answer',
      message: 'the answer holds the code 99, expected OK or OVER_LIMIT',
    });
  });

  it('a thousand calls wait at most; one more is answered at once, and nothing is sent', async () => {
    const { address, waiting } = await start(() => undefined);
    const limiter = limiterOf(address);
    const flood = Array.from({ length: 1_000 }, () => limiter.check([ANN]));
    expect(await limiter.check([ANN])).toMatchObject({ error: { code: 'too_many_calls' } });
    expect(limiter.stats().inFlight).toBe(1_000);
    await eventually(() => {
      expect(waiting).toHaveLength(1_000);
    });
    for (const { responder, callId } of waiting) responder.answer(callId, OK);
    const decisions = await Promise.all(flood);
    expect(decisions.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(limiter.stats()).toMatchObject({ inFlight: 0, decided: 1_000, failed: 1 });
  });
});

describe('a signal', () => {
  it('cancels the call, which rejects with its reason', async () => {
    const server = await startRawRateLimitServer(() => undefined);
    cleanups.push(server.stop);
    // Later than the test's own end: a deadline cancels too.
    const limiter = limiterOf(server.address, { timeoutMs: 600_000 });
    const controller = new AbortController();
    const { signal } = controller;
    const calls = [
      limiter.check([ANN], { signal }),
      limiter.quota([ANN], { signal }),
      limiter.reserve(ANN, 'i', 1, { signal }),
    ];
    await eventually(() => {
      expect(server.requests).toHaveLength(3);
    });
    const reason = new Error('the client has gone');
    controller.abort(reason);
    expect(await Promise.allSettled(calls)).toEqual(
      calls.map(() => ({ status: 'rejected', reason })),
    );
    await eventually(() => {
      expect(server.cancelled).toHaveLength(3);
    });
    await expect(limiter.check([ANN], { signal })).rejects.toBe(reason);
    expect(server.requests).toHaveLength(3);
    expect(limiter.stats()).toMatchObject({ inFlight: 0, failed: 0, decided: 0 });
  });

  it('is let go of when the call has ended', async () => {
    const { address } = await start();
    const { signal } = new AbortController();
    await limiterOf(address).check([ANN], { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('close', () => {
  it('waits for calls in flight, refuses new ones, and ends the connection', async () => {
    const { address, waiting } = await start(() => undefined);
    const { proxy, address: near } = await proxied(address);
    const limiter = limiterOf(near);
    const flying = limiter.check([ANN]);
    await eventually(() => {
      expect(waiting).toHaveLength(1);
    });
    let isClosed = false;
    const closed = limiter.close().then(() => (isClosed = true));
    expect(await limiter.check([ANN])).toMatchObject({ allowed: true, error: { code: 'closed' } });
    expect(await limiter.settle(ANN, 'i')).toMatchObject({ error: { code: 'closed' } });
    expect(isClosed).toBe(false);
    for (const { responder, callId } of waiting) responder.answer(callId, OK);
    expect(await flying).toMatchObject({ allowed: true, error: undefined });
    await closed;
    await limiter.close();
    await eventually(() => {
      expect(proxy.size).toBe(0);
    });
  });

  it('lets a settle in flight have its second attempt', async () => {
    const { address, waiting } = await start(() => undefined);
    const limiter = limiterOf(address);
    const settling = limiter.settle(ANN, 'i', 1);
    const answerNext = async (count: number, answer: Parameters<typeof answers>[0]) => {
      await eventually(() => {
        expect(waiting).toHaveLength(count);
      });
      answers(answer);
    };
    const answers = (answer: typeof OK | ReturnType<typeof failure>) => {
      const last = waiting.at(-1);
      last?.responder.answer(last.callId, answer);
    };
    await eventually(() => {
      expect(waiting).toHaveLength(1);
    });
    const closed = limiter.close();
    await answerNext(1, failure('internal', 'a fault'));
    await answerNext(2, OK);
    expect(await settling).toEqual({ settled: true, error: undefined });
    await closed;
  });
});

describe('a connection', () => {
  it('comes back after the service was away, whichever engine it has', async () => {
    const port = await freePort();
    const target = `127.0.0.1:${String(port)}`;
    const limiter = limiterOf(target);
    const options = { address: { host: '127.0.0.1', port } };
    for (const create of [createWire, createGrpcJsTransport]) {
      const { transport } = await startTransport(create, () => OK, options);
      await eventually(async () => {
        expect(await limiter.check([ANN])).toMatchObject({ error: undefined });
      });
      await transport.close(0);
      expect(await limiter.check([ANN])).toMatchObject({ error: { code: 'unavailable' } });
    }
  });

  it('is given up when the other side falls silent, and opened anew', async () => {
    const { address } = await start();
    const { proxy, address: near } = await proxied(address);
    const limiter = limiterOf(near);
    await limiter.check([ANN]);
    proxy.behaviour.swallow = 'requests';
    expect(await limiter.check([ANN])).toMatchObject({ error: { code: 'unavailable' } });
    proxy.behaviour.swallow = 'nothing';
    expect(await limiter.check([ANN])).toMatchObject({ error: undefined });
    expect(proxy.accepted).toBe(2);
  });
});

function limitOf(status: Partial<Decision['statuses'][number]>): Decision['statuses'][number] {
  const currentLimit = { requestsPerUnit: 10, unit: 'MINUTE', name: 'ten' } as const;
  return { code: 'OK', currentLimit, limitRemaining: 0, secondsUntilReset: 0, ...status };
}
