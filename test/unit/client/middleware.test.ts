import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import {
  RateLimiterError,
  rateLimit,
  rateLimitFetch,
  type RateLimitDecision,
} from '../../../src/client';

const FIGURES = { limit: 5, remaining: 4, resetSeconds: 60, body: undefined, limits: [] };
const ALLOWED: RateLimitDecision = {
  ...FIGURES,
  allowed: true,
  headers: { RateLimit: '"a";r=4' },
  error: undefined,
};
const REFUSED: RateLimitDecision = { ...ALLOWED, allowed: false, headers: { 'Retry-After': '7' } };
const WITH_BODY: RateLimitDecision = {
  ...REFUSED,
  headers: { 'Retry-After': '7', 'Content-Type': 'application/problem+json' },
  body: '{"title":"no"}',
};
const NO_DECISION: RateLimitDecision = {
  ...REFUSED,
  headers: { 'Retry-After': '1' },
  error: new RateLimiterError('timeout', 'too late'),
};
const OURS = '{"error":"too many requests, try again in 7 s","code":"rate_limited"}\n';
const UNAVAILABLE = '{"error":"no decision about this request","code":"unavailable"}\n';

/** A limiter that answers so, and what it was asked. */
function limiterWith(decision: RateLimitDecision) {
  const asked: unknown[] = [];
  return {
    asked,
    check: (descriptors: unknown) => {
      asked.push(descriptors);
      return Promise.resolve(decision);
    },
  };
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function serve(handler: (request: IncomingMessage, response: ServerResponse) => unknown) {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
}

async function read(response: Response | undefined) {
  const told = response ?? Response.error();
  const { status, headers } = told;
  return [
    status,
    headers.get('retry-after'),
    headers.get('ratelimit'),
    headers.get('content-type')?.split(';')[0],
    await told.text(),
  ];
}

const REFUSALS = [
  ['429 and a line of JSON', REFUSED, {}, [429, '7', null, 'application/json', OURS]],
  ['another status', REFUSED, { status: 403 }, [403, '7', null, 'application/json', OURS]],
  [
    'the body of the service',
    WITH_BODY,
    {},
    [429, '7', null, 'application/problem+json', '{"title":"no"}'],
  ],
  [
    '503 for want of a decision',
    NO_DECISION,
    { status: 403 },
    [503, '1', null, 'application/json', UNAVAILABLE],
  ],
] as const;

describe('rateLimit', () => {
  async function ask(decision: RateLimitDecision, options = {}) {
    const limiter = limiterWith(decision);
    const app = express();
    app.use(
      rateLimit(limiter, (request) => [[['agent', request.headers['user-agent'] ?? '']]], options),
    );
    app.get('/', (_, response) => {
      response.send('here');
    });
    const response = await fetch(await serve(app), { headers: { 'User-Agent': 'test' } });
    return { told: await read(response), asked: limiter.asked };
  }

  it('lets pass with the headers of the decision', async () => {
    const { told, asked } = await ask(ALLOWED);
    expect(told).toEqual([200, null, '"a";r=4', 'text/html', 'here']);
    expect(asked).toEqual([[[['agent', 'test']]]]);
  });

  it.each(REFUSALS)('refuses with %s', async (_, decision, options, expected) => {
    expect((await ask(decision, options)).told).toEqual(expected);
  });

  it('asks nobody where nothing is limited', async () => {
    const limiter = limiterWith(REFUSED);
    const app = express();
    app.use(rateLimit(limiter, () => undefined));
    app.use(rateLimit(limiter, () => Promise.resolve([])));
    app.get('/', (_, response) => {
      response.send('here');
    });
    expect((await fetch(await serve(app))).status).toBe(200);
    expect(limiter.asked).toEqual([]);
  });

  it('hands on what descriptorsOf and the limiter throw', async () => {
    const nexts: unknown[] = [];
    const next = (error?: unknown) => nexts.push(error);
    const response = { statusCode: 200, headersSent: false, setHeader: fail, end: fail };
    const error = new Error('no session');
    const throwing = rateLimit(limiterWith(ALLOWED), () => {
      throw error;
    });
    await throwing({ headers: {} }, response, next);
    const rejecting = rateLimit({ check: () => Promise.reject(error) }, () => [[['a', 'b']]]);
    await rejecting({ headers: {} }, response, next);
    expect(nexts).toEqual([error, error]);
  });

  it('leaves a response alone that was sent meanwhile', async () => {
    const limited = rateLimit(limiterWith(REFUSED), () => [[['a', 'b']]]);
    await limited(
      { headers: {} },
      { statusCode: 503, headersSent: true, setHeader: fail, end: fail },
      fail,
    );
  });
});

describe('rateLimitFetch', () => {
  const ask = (decision: RateLimitDecision, options = {}) =>
    rateLimitFetch(
      limiterWith(decision),
      (request) => [[['path', new URL(request.url).pathname]]],
      options,
    )(new Request('http://shop.test/cart'));

  it('answers nothing for what may pass', async () => {
    expect(await ask(ALLOWED)).toBeUndefined();
  });

  it.each(REFUSALS)('refuses with %s', async (_, decision, options, expected) => {
    expect(await read(await ask(decision, options))).toEqual(expected);
  });

  it('rejects with what descriptorsOf throws', async () => {
    const limited = rateLimitFetch(limiterWith(ALLOWED), () => Promise.reject(new Error('no')));
    await expect(limited(new Request('http://shop.test/'))).rejects.toThrow('no');
  });
});

it.each([200, 600, 429.5, '429'])('takes no status of %p', (status) => {
  const options = { status: status as number };
  const message = `status is ${typeof status === 'string' ? '"429"' : String(status)}, expected a whole number from 400 to 599`;
  expect(() => rateLimit(limiterWith(ALLOWED), () => [], options)).toThrow(new TypeError(message));
  expect(() => rateLimitFetch(limiterWith(ALLOWED), () => [], options)).toThrow(message);
});

function fail(): never {
  throw new Error('not expected');
}
