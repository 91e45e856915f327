import { crc32 } from 'node:zlib';
import { toBase62 } from '../../src/identity/credential';
import { createEmbeddedStore } from '../../src/identity/store/embedded/create-embedded-store';
import { StoreUnavailable, type IdentityStore } from '../../src/identity/store/store';
import {
  ANN,
  grant,
  grantApiKey,
  startIdentity,
  type IdentityUnderTest,
} from '../support/identity';
import { sendDocumented as send } from '../support/identity-document';
import { sendBytes, type HttpAnswer } from '../support/raw-http';
import { silentLogger } from '../support/silent-logger';

let identity: IdentityUnderTest;
let token: string;
let tokenId: string;
let sessionId: string;

const HOUR_MS = 3_600_000;
const ADDRESS = 'remote_address=127.0.0.1';
const bearer = (text: string): [string, string] => ['Authorization', `Bearer ${text}`];
const withChecksum = (body: string): string => body + toBase62(BigInt(crc32(body)), 6);

beforeEach(async () => {
  identity = await startIdentity();
  ({ token, tokenId, sessionId } = await grant(identity.store, ANN, HOUR_MS));
});

afterEach(async () => {
  await identity.stop();
});

const bodyOf = ({ body }: HttpAnswer) => JSON.parse(body) as Record<string, unknown>;

/** What every answer carries, whatever its status. */
function expectEnvelope(answer: HttpAnswer, status: number, message: string): void {
  expect(answer.status).toBe(status);
  expect(bodyOf(answer)['meta']).toEqual({ code: status, message });
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(answer.body)),
  });
}

function expectError(answer: HttpAnswer, status: number, message: string, error: string): void {
  expectEnvelope(answer, status, message);
  const body = bodyOf(answer);
  expect(Object.keys(body)).toEqual(['meta', 'error', 'errorDescription', 'requestId']);
  expect(body['error']).toBe(error);
  expect(body['requestId']).toBe(answer.headers['x-request-id']);
}

describe('a live token', () => {
  it('gets the documented answer, every field of it', async () => {
    const answer = await send(identity.url, [bearer(token)]);
    expectEnvelope(answer, 200, 'Success');
    expect(answer.headers['www-authenticate']).toBeUndefined();
    expect(bodyOf(answer)).toEqual({
      meta: { code: 200, message: 'Success' },
      session: { remainingSeconds: 3_600 },
      user: {
        id: 'ann',
        externalId: 'x-1',
        userName: 'ann',
        displayName: 'Ann Äpfel',
        emails: [
          { value: 'ann@example.com', type: 'work' },
          { value: 'a@example.org', type: null },
        ],
        photos: [{ value: 'https://example.com/ann.png', type: 'photo' }],
        names: { familyName: 'Äpfel', givenName: 'Ann' },
        verifications: [
          {
            id: 'v1',
            email: 'ann@example.com',
            verified: true,
            createdAt: '2026-01-01T00:00:00.000Z',
            updatedAt: '2026-01-02T00:00:00.000Z',
          },
        ],
        provider: 'local',
        environmentId: 'test',
      },
    });
  });

  it('gets empty texts and lists for a user of whom nothing is known', async () => {
    const nobody = {
      ...ANN,
      id: 'nobody',
      userName: '',
      emails: [],
      photos: [],
      verifications: [],
    };
    const granted = await grant(identity.store, nobody, HOUR_MS);
    const { user } = bodyOf(await send(identity.url, [bearer(granted.token)]));
    expect(user).toMatchObject({ userName: '', emails: [], photos: [], verifications: [] });
  });

  it('is never answered 304', async () => {
    const headers: [string, string][] = [
      bearer(token),
      ['If-None-Match', '*'],
      ['If-Modified-Since', new Date(4e12).toUTCString()],
    ];
    expect((await send(identity.url, headers)).status).toBe(200);
  });

  it.each(['bearer', 'BEARER', 'Bearer '])('may come with the scheme %j', async (scheme) => {
    expect((await send(identity.url, [['Authorization', `${scheme} ${token}`]])).status).toBe(200);
  });

  it('may come with another query', async () => {
    expect((await send(`${identity.url}?a=b`, [bearer(token)])).status).toBe(200);
  });

  it('does not live longer for being used', async () => {
    identity.clock.nowMs += HOUR_MS - 500;
    for (let i = 0; i < 3; i++) {
      const answer = await send(identity.url, [bearer(token)]);
      expect(bodyOf(answer)['session']).toEqual({ remainingSeconds: 0 });
    }
  });

  it('is good to the last millisecond of its session and not one longer', async () => {
    identity.clock.nowMs += HOUR_MS - 1;
    expect((await send(identity.url, [bearer(token)])).status).toBe(200);
    identity.clock.nowMs += 1;
    expect((await send(identity.url, [bearer(token)])).status).toBe(401);
  });

  it('has the length in HEAD that it has in GET, and no body', async () => {
    const get = await send(identity.url, [bearer(token)]);
    const head = await send(identity.url, [bearer(token)], 'HEAD');
    expect(head.status).toBe(200);
    expect(head.body).toBe('');
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
  });
});

it('takes a token at once that another process has issued, and charges nothing', async () => {
  const nowMs = () => identity.clock.nowMs;
  const other = createEmbeddedStore({ nowMs, logger: silentLogger }, { file: identity.file });
  await other.open();
  for (let at = 0; at < 5; at++) {
    const issued = await grant(other, ANN, HOUR_MS);
    expect((await send(identity.url, [bearer(issued.token)])).status).toBe(200);
  }
  expect(identity.asked.filter((text) => text.startsWith('authenticated=false'))).toEqual([]);
  await other.close();
});

describe('one credential', () => {
  const basic: [string, string] = ['Authorization', 'Basic YTpi'];
  const empty: [string, string] = ['Authorization', ''];
  const NONE = [401, 'Unauthorized', 'unauthorized', ''] as const;
  const TWO = [400, 'Bad Request', 'invalid_request', ', error="invalid_request"'] as const;

  it.each<[string, typeof NONE | typeof TWO, string, () => readonly [string, string][]]>([
    ['no header', NONE, '', () => []],
    ['an empty header', NONE, '', () => [empty]],
    ['a scheme without a token', NONE, '', () => [['Authorization', 'Bearer']]],
    ['another scheme', NONE, '', () => [basic]],
    ['a longer scheme', NONE, '', () => [['Authorization', 'Bearerer abc']]],
    ['a token only in the query', NONE, '?access_token=abc', () => []],
    ['two headers', TWO, '', () => [bearer(token), bearer(token)]],
    ['two headers of which one is another scheme', TWO, '', () => [bearer(token), basic]],
    ['two headers of which one is empty', TWO, '', () => [bearer(token), empty]],
    ['two empty headers', TWO, '', () => [empty, ['authorization', '']]],
    ['a header and a query', TWO, '?access_token=abc', () => [bearer(token)]],
    ['a header and an empty query', TWO, '?a=b&access_token=', () => [bearer(token)]],
    ['a header and an escaped query', TWO, '?access%5Ftoken=abc', () => [bearer(token)]],
  ])(
    'has to be there, and no other: %s',
    async (_, [status, text, error, challenge], query, headers) => {
      const answer = await send(identity.url + query, headers());
      expectError(answer, status, text, error);
      expect(answer.headers['www-authenticate']).toBe(`Bearer realm="identity"${challenge}`);
    },
  );
});

describe('a fault of a token', () => {
  const FAULTS: readonly (readonly [string, () => Promise<string> | string])[] = [
    ['malformed', () => 'abc'],
    ['two words', () => `${token} ${token}`],
    ['of 4096 characters', () => 'a'.repeat(4_096)],
    ['of 4097 characters', () => 'a'.repeat(4_097)],
    ['with a bad checksum', () => token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')],
    ['unknown', () => withChecksum(`idt_${'0'.repeat(16)}${'0'.repeat(43)}`)],
    ['with another secret', () => withChecksum(`idt_${tokenId}${'0'.repeat(43)}`)],
    [
      'expired',
      async () => {
        const short = await grant(identity.store, ANN, HOUR_MS, 1_000);
        identity.clock.nowMs += 1_000;
        return short.token;
      },
    ],
    [
      'revoked',
      async () => {
        await identity.store.deleteToken(tokenId);
        return token;
      },
    ],
    [
      'of a session that was revoked',
      async () => {
        await identity.store.deleteSession(sessionId);
        return token;
      },
    ],
    [
      'of a session that is over',
      () => {
        identity.clock.nowMs += HOUR_MS;
        return token;
      },
    ],
    [
      'of a disabled user',
      async () => {
        await identity.store.putUsers([{ ...ANN, active: false }]);
        return token;
      },
    ],
    [
      'of a deleted user',
      async () => {
        await identity.store.deleteUser('ann');
        return token;
      },
    ],
  ];
  const REQUEST_ID: [string, string] = ['X-Request-Id', 'same-for-all'];

  it('is 401 invalid_token with the same bytes, whatever the fault is', async () => {
    const answers: string[] = [];
    for (const [name, spoil] of FAULTS) {
      const answer = await send(identity.url, [bearer(await spoil()), REQUEST_ID]);
      expectError(answer, 401, 'Unauthorized', 'invalid_token');
      const { date, ...rest } = answer.headers;
      expect(rest['www-authenticate']).toBe('Bearer realm="identity", error="invalid_token"');
      expect(date).toBeDefined();
      answers.push(JSON.stringify(rest) + answer.body);
      expect([name, answers.at(-1)]).toEqual([name, answers[0]]);
      await identity.stop();
      identity = await startIdentity();
      ({ token, tokenId, sessionId } = await grant(identity.store, ANN, HOUR_MS));
    }
  });

  it('is charged after the check, by address', async () => {
    await send(identity.url, [bearer('abc')]);
    expect(identity.asked).toEqual([ADDRESS, `authenticated=false,${ADDRESS}`]);
  });
});

describe('API keys', () => {
  it('are asked for as soon as there is one', async () => {
    expect((await send(identity.url, [bearer(token), ['X-API-Key', 'x']])).status).toBe(200);
    const { apiKey, id } = await grantApiKey(identity.store, 'shop');
    expect((await send(identity.url, [bearer(token), ['X-API-Key', apiKey]])).status).toBe(200);
    await identity.store.deleteApiKey(id);
    expect((await send(identity.url, [bearer(token)])).status).toBe(200);
  });

  it.each<[string, (apiKey: string) => readonly [string, string][]]>([
    ['missing', () => []],
    ['empty', () => [['X-API-Key', '']]],
    ['no key', () => [['X-API-Key', 'abc']]],
    ['unknown', () => [['X-API-Key', withChecksum(`idk_${'0'.repeat(59)}`)]]],
    [
      'twice',
      (apiKey) => [
        ['X-API-Key', apiKey],
        ['x-api-key', apiKey],
      ],
    ],
    [
      'with another secret',
      (apiKey) => [['X-API-Key', withChecksum(apiKey.slice(0, 20) + '0'.repeat(43))]],
    ],
  ])('are 401 invalid_api_key when the key is %s', async (_, headers) => {
    const { apiKey } = await grantApiKey(identity.store, 'shop');
    const answer = await send(identity.url, [bearer(token), ...headers(apiKey)]);
    expectError(answer, 401, 'Unauthorized', 'invalid_api_key');
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="identity"');
  });
});

describe('a limit', () => {
  const over = { isOver: true, limit: 7, resetSeconds: 42 };

  it.each<[string, string, () => readonly [string, string][]]>([
    ['of an address', ADDRESS, () => [bearer(token)]],
    ['of failures', `authenticated=false,${ADDRESS}`, () => [bearer('abc')]],
    ['of a user', 'authenticated=true,user_id=ann', () => [bearer(token)]],
  ])('%s is 429 with when to come back', async (_, descriptor, headers) => {
    identity.over.set(descriptor, over);
    const answer = await send(identity.url, headers());
    expectError(answer, 429, 'Too Many Requests', 'rate_limited');
    expect(answer.headers).toMatchObject({
      'retry-after': '42',
      'ratelimit-limit': '7',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '42',
    });
    expect(answer.headers['www-authenticate']).toBeUndefined();
  });

  it('that is hit is kept until it resets, without asking anybody', async () => {
    identity.over.set(ADDRESS, over);
    await send(identity.url, [bearer(token)]);
    identity.over.clear();
    identity.asked.length = 0;
    identity.clock.nowMs += 40_500;
    const answer = await send(identity.url, [bearer(token)]);
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '2']);
    expect(identity.asked).toEqual([]);
    identity.clock.nowMs += 1_500;
    expect((await send(identity.url, [bearer(token)])).status).toBe(200);
  });

  it('that is hit is answered before the store is touched', async () => {
    const away = () => Promise.reject(new StoreUnavailable('the store is away'));
    const broken = { ...identity.store, findToken: away, findOwner: away, apiKeys: away };
    const other = await startIdentity({}, {}, broken);
    other.over.set(ADDRESS, { ...over, limit: undefined });
    const statuses: number[] = [];
    for (let at = 0; at < 3; at++) statuses.push((await send(other.url, [bearer(token)])).status);
    await other.stop();
    expect(statuses).toEqual([429, 429, 429]);
    expect(other.asked).toEqual([ADDRESS]);
  });

  describe('of failures that a neighbour has spent', () => {
    const FAILURES = `authenticated=false,${ADDRESS}`;
    const REQUEST_ID: [string, string] = ['X-Request-Id', 'same-for-all'];
    const ask = (text: string, ...more: [string, string][]) =>
      send(identity.url, [bearer(text), REQUEST_ID, ...more]);
    /** Ten bad tokens, the last of which is over the limit. */
    const spend = async () => {
      for (let at = 0; at < 9; at++) await ask(`bad-${String(at)}`);
      identity.over.set(FAILURES, over);
      expect((await ask('bad-9')).status).toBe(429);
    };

    it('leaves alone the tokens that were good there, charged to their users', async () => {
      expect((await ask(token)).status).toBe(200);
      await spend();
      identity.asked.length = 0;
      for (let at = 0; at < 3; at++) expect((await ask(token)).status).toBe(200);
      expect(identity.asked).toEqual(
        Array.from({ length: 3 }, () => [ADDRESS, 'authenticated=true,user_id=ann']).flat(),
      );
    });

    it('says of no other token whether it is good, and asks nobody about it', async () => {
      const fresh = await grant(identity.store, ANN, HOUR_MS);
      const revoked = await grant(identity.store, ANN, HOUR_MS);
      expect((await ask(revoked.token)).status).toBe(200);
      await spend();
      await identity.store.deleteToken(revoked.tokenId);
      identity.asked.length = 0;
      const wrong = withChecksum(`idt_${fresh.tokenId}${'0'.repeat(43)}`);
      const answers: string[] = [];
      for (const text of ['abc', wrong, fresh.token, revoked.token, revoked.token]) {
        const { status, headers, body } = await ask(text);
        const { date, ...rest } = headers;
        expect(date).toBeDefined();
        answers.push(JSON.stringify([status, rest, body]));
      }
      expect(new Set(answers).size).toBe(1);
      expect(answers[0]).toContain('429');
      // The one that was good is looked at once more, and charged as the guess that it is now.
      expect(identity.asked).toEqual([ADDRESS, FAILURES]);
    });

    it('does not let a good token guess API keys', async () => {
      const { apiKey } = await grantApiKey(identity.store, 'shop');
      const other = await grantApiKey(identity.store, 'other shop');
      expect((await ask(token, ['X-API-Key', apiKey])).status).toBe(200);
      await spend();
      expect((await ask(token, ['X-API-Key', other.apiKey])).status).toBe(429);
      expect((await ask(token)).status).toBe(429);
      expect((await ask(token, ['X-API-Key', apiKey])).status).toBe(200);
    });

    it('counts again for the tokens that were good as soon as requests are too many', async () => {
      await ask(token);
      await spend();
      identity.over.set(ADDRESS, { isOver: true, limit: 100, resetSeconds: 1 });
      const { status, headers } = await ask(token);
      expect([status, headers['ratelimit-limit']]).toEqual([429, '100']);
    });

    it('holds at another address, where the token is not known', async () => {
      const proxied = await startIdentity({
        trustedProxies: [{ address: '127.0.0.1', prefix: undefined }],
      });
      const from = (address: string): [string, string] => ['X-Forwarded-For', address];
      const known = await grant(proxied.store, ANN, HOUR_MS);
      const askFrom = async (address: string, text: string) =>
        (await send(proxied.url, [bearer(text), from(address)])).status;
      expect(await askFrom('192.0.2.1', known.token)).toBe(200);
      proxied.over.set('authenticated=false,remote_address=192.0.2.2', over);
      expect(await askFrom('192.0.2.2', 'abc')).toBe(429);
      expect(await askFrom('192.0.2.2', known.token)).toBe(429);
      expect(await askFrom('192.0.2.1', known.token)).toBe(200);
      await proxied.stop();
    });
  });

  it('is asked for before a good token and charged to its user after it', async () => {
    await send(identity.url, [bearer(token)]);
    expect(identity.asked).toEqual([ADDRESS, 'authenticated=true,user_id=ann']);
  });

  it('is asked for also without a token', async () => {
    await send(identity.url);
    expect(identity.asked).toEqual([ADDRESS]);
  });

  it('that nobody can tell allows the call and counts it', async () => {
    identity.fail(new Error('away'));
    expect((await send(identity.url, [bearer(token)])).status).toBe(200);
    expect((await send(identity.url, [bearer('abc')])).status).toBe(401);
    expect(await identity.metrics.print()).toContain('identity_ratelimit_failures_total 4');
  });

  it('that nobody can tell is 503 when the operator wants so', async () => {
    const strict = await startIdentity({}, { failure: 'deny' });
    strict.fail(new Error('away'));
    const answer = await send(strict.url, [bearer(token)]);
    await strict.stop();
    expectError(answer, 503, 'Service Unavailable', 'unavailable');
    expect(answer.headers['retry-after']).toBe('1');
  });
});

describe('a store that is away', () => {
  const away = () => Promise.reject(new StoreUnavailable('the store is away'));

  it.each<keyof IdentityStore>(['findToken', 'findOwner', 'apiKeys'])(
    'is 503, never 401 and never charged: %s',
    async (method) => {
      const broken = { ...identity.store, [method]: away };
      const other = await startIdentity({}, {}, broken);
      const answer = await send(other.url, [bearer(token)]);
      expectError(answer, 503, 'Service Unavailable', 'unavailable');
      expect(answer.headers['retry-after']).toBe('1');
      expect(answer.headers['www-authenticate']).toBeUndefined();
      expect(other.asked).toEqual([ADDRESS]);
      await other.stop();
    },
  );

  it('that has a fault of its own is 500 with a line in the log', async () => {
    const broken = { ...identity.store, findToken: () => Promise.reject(new Error('oops')) };
    const other = await startIdentity({}, {}, broken);
    const answer = await send(other.url, [bearer(token)]);
    await other.stop();
    expectError(answer, 500, 'Internal Server Error', 'internal');
    expect(other.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});

describe('paths and methods', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'])('%s is 405', async (method) => {
    const answer = await send(identity.url, [bearer(token)], method);
    expectError(answer, 405, 'Method Not Allowed', 'method_not_allowed');
    expect(answer.headers['allow']).toBe('GET, HEAD, OPTIONS');
  });

  it.each([
    '/',
    '/v1/userinfo/',
    '/V1/userinfo',
    '/v1/UserInfo',
    '//v1/userinfo',
    '/v1/%75serinfo',
    '/v1/userinfo/x',
    '/metrics',
    '/healthcheck',
    '/%E0%A4%A',
  ])('%s is 404', async (path) => {
    const answer = await send(`http://127.0.0.1:${String(identity.port)}${path}`, [bearer(token)]);
    expectError(answer, 404, 'Not Found', 'not_found');
  });

  it('OPTIONS is 204 and says what is allowed', async () => {
    const answer = await send(identity.url, [], 'OPTIONS');
    expect([answer.status, answer.body]).toEqual([204, '']);
    expect(answer.headers).toMatchObject({
      allow: 'GET, HEAD, OPTIONS',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(identity.asked).toEqual([]);
  });

  it('CONNECT is 405', async () => {
    const answer = await sendBytes(identity.port, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 405 [^]*"error":"method_not_allowed"/);
  });

  it.each([
    ['headers of 17 kB', `X: ${'a'.repeat(17_000)}`, 431],
    ['a NUL in the token', 'Authorization: Bearer a\0b', 400],
    ['a folded header', 'Authorization: Bearer a\r\n b', 400],
    ['a lone carriage return in the token', 'Authorization: Bearer a\rb', 400],
  ])('%s is refused before it is a request', async (_, header, status) => {
    const head = `GET /v1/userinfo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${header}\r\n\r\n`;
    const answer = await sendBytes(identity.port, head);
    expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${String(status)}`);
    const body = JSON.parse(answer.split('\r\n\r\n')[1] ?? '') as { meta: { code: number } };
    expect(body.meta.code).toBe(status);
  });
});

describe('bytes', () => {
  const raw = (lines: readonly string[]) =>
    sendBytes(identity.port, [...lines, 'Connection: close', '', ''].join('\r\n'));

  it('without a Host are 400 in the envelope', async () => {
    const answer = await raw(['GET /v1/userinfo HTTP/1.1', `Authorization: Bearer ${token}`]);
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*"error":"invalid_request"/);
    expect(answer).toMatch(/X-Request-Id: /);
  });

  it('of HTTP/1.0 need none', async () => {
    const answer = await raw(['GET /v1/userinfo HTTP/1.0', `Authorization: Bearer ${token}`]);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('with an absolute address are the same request', async () => {
    const line = 'GET http://id.test/v1/userinfo HTTP/1.1';
    expect(await raw([line, 'Host: id.test', `Authorization: Bearer ${token}`])).toMatch(/ 200 OK/);
  });

  it.each(['100-continue', 'a-miracle'])(
    'that expect %s are answered as any other',
    async (text) => {
      const head = ['GET /v1/userinfo HTTP/1.1', 'Host: a', `Expect: ${text}`];
      expect(await raw([...head, `Authorization: Bearer ${token}`])).toMatch(/^HTTP\/1\.1 200 /);
    },
  );

  it('cannot hide a second Authorization behind thousands of headers', async () => {
    const many = Array.from({ length: 3_000 }, () => 'a:');
    const head = ['GET /v1/userinfo HTTP/1.1', 'Host: a', `Authorization: Bearer ${token}`];
    const answer = await raw([...head, ...many, 'Authorization: Bearer x']);
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*"error":"invalid_request"/);
  });

  it('of a body are not waited for', async () => {
    const head = ['GET /v1/userinfo HTTP/1.1', 'Host: a', `Authorization: Bearer ${token}`];
    const answer = await raw([...head, 'Content-Length: 3', '', 'abc']);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a clock that steps', () => {
  const status = async () => (await send(identity.url, [bearer(token)])).status;

  it('forward ends what is over by it, and back again gives it back', async () => {
    identity.clock.nowMs += 2 * HOUR_MS;
    expect(await status()).toBe(401);
    identity.clock.nowMs -= 2 * HOUR_MS;
    expect(await status()).toBe(200);
  });

  it('back never brings back what was revoked', async () => {
    await identity.store.deleteSession(sessionId);
    identity.clock.nowMs -= 2 * HOUR_MS;
    expect(await status()).toBe(401);
  });
});

describe('request ids', () => {
  it('come back as they were given', async () => {
    const answer = await send(identity.url, [['X-Request-Id', 'abc-1']]);
    expect(answer.headers['x-request-id']).toBe('abc-1');
    expect(bodyOf(answer)['requestId']).toBe('abc-1');
  });

  it.each(['', 'a b', '"', 'a'.repeat(65)])('are new ones instead of %j', async (given) => {
    const answer = await send(identity.url, [['X-Request-Id', given]]);
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('are never a token', async () => {
    const answer = await send(identity.url, [['X-Request-Id', token]]);
    expect(JSON.stringify(answer)).not.toContain(token);
  });
});

describe('CORS', () => {
  it('is off unless somebody asks for it', async () => {
    const { headers } = await send(identity.url, [['Origin', 'https://shop.test']]);
    expect(Object.keys(headers).filter((name) => /^(access-control|vary)/.test(name))).toEqual([]);
  });

  it('lets the named origins in, on every answer, and no other', async () => {
    const other = await startIdentity({ corsOrigins: ['https://shop.test'] });
    const good = await send(other.url, [['Origin', 'https://shop.test']]);
    const bad = await send(other.url, [['Origin', 'https://evil.test']]);
    const preflight = await send(other.url, [['Origin', 'https://shop.test']], 'OPTIONS');
    await other.stop();
    expect(good.headers).toMatchObject({
      'access-control-allow-origin': 'https://shop.test',
      vary: 'Origin',
    });
    expect(good.headers['access-control-expose-headers']).toContain('X-Request-Id');
    expect(bad.headers['access-control-allow-origin']).toBeUndefined();
    expect(bad.headers['vary']).toBe('Origin');
    expect(preflight.headers).toMatchObject({
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
      'access-control-allow-headers': 'Authorization, X-API-Key, X-Request-Id',
    });
  });
});

describe('the full profile', () => {
  it('adds what strict clients want', async () => {
    const other = await startIdentity({ profile: 'full' });
    const granted = await grant(other.store, ANN, HOUR_MS);
    const { user } = bodyOf(await send(other.url, [bearer(granted.token)]));
    await other.stop();
    expect(user).toMatchObject({
      id: 'ann',
      nickName: null,
      profileUrl: null,
      title: null,
      userType: null,
      preferredLanguage: null,
      locale: '',
      timezone: null,
      active: true,
      names: { id: 'ann-names', formatted: null, familyName: 'Äpfel', middleName: null },
      emails: [{ id: 'ann-email-0', value: 'ann@example.com', type: 'work' }, { type: null }],
      photos: [{ id: 'ann-photo-0' }],
      phoneNumbers: [],
      addresses: [],
      createdAt: '',
      updatedAt: '',
    });
  });
});

it('counts by status and reason', async () => {
  await send(identity.url, [bearer(token)]);
  await send(identity.url, [bearer('abc')]);
  await send(identity.url);
  const text = await identity.metrics.print();
  for (const labels of [
    'code="200",reason="ok"',
    'code="401",reason="malformed_token"',
    'code="401",reason="no_credentials"',
  ])
    expect(text).toContain(`identity_userinfo_requests_total{${labels}} 1`);
  expect(text).toContain('identity_userinfo_duration_seconds_count 3');
  expect(text).toContain('identity_userinfo_duration_seconds_bucket{le="+Inf"} 3');
});

it('logs no token and nothing personal', async () => {
  await send(identity.url, [bearer(token)]);
  await send(identity.url, [bearer('idt_something')]);
  const log = JSON.stringify(identity.lines);
  for (const secret of [token, token.slice(20, 63), 'idt_', 'ann', 'Bearer', '127.0.0.1'])
    expect(log).not.toContain(secret);
});
