import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { exportJWK, generateKeyPair, generateSecret, type JWTPayload, SignJWT } from 'jose';
import { createJwtVerifier } from '../../src/identity/jwt/create-jwt-verifier';
import type { JwtVerifier } from '../../src/identity/jwt/jwt-verifier';
import { createKeySet, loadKeysByUrl, loadKeysFromFile } from '../../src/identity/jwt/key-set';
import { startStopwatch } from '../support/edge/core-time';
import { eventually } from '../support/edge/eventually';
import { expectFigure } from '../support/edge/figure';
import { ANN, grant, type IdentityUnderTest, startIdentity } from '../support/identity';
import {
  AUDIENCE,
  type Claims,
  createSigningKey,
  ISSUER,
  type KeyServer,
  type SigningKey,
  signToken,
  startKeyServer,
} from '../support/jwt-issuer';
import { type HttpAnswer, send } from '../support/raw-http';
import { createRecordingLogger } from '../support/recording-logger';

const HOUR_S = 3_600;
const NOW_S = 1_800_000_000;
const REQUEST_ID: [string, string] = ['X-Request-Id', 'same-for-all'];

let keyServer: KeyServer;
let key: SigningKey;
let otherKey: SigningKey;
let identity: IdentityUnderTest;
let sessionId: string;
let monotonic: { nowMs: number };
let lines: ReturnType<typeof createRecordingLogger>['lines'];
/** How often the key set was read, for good or ill. */
let loads: number;
/** The time-out of reading it by HTTP. */
let loadWithinMs: number;

/** The clock of tokens is that of the service under test. */
const clock = { nowMs: NOW_S * 1_000 };

function createVerifier(load: () => Promise<unknown>): JwtVerifier {
  const recording = createRecordingLogger();
  ({ lines } = recording);
  monotonic = { nowMs: 0 };
  loads = 0;
  const count = () => {
    loads += 1;
  };
  const deps = {
    load: () => load().finally(count),
    monotonicMs: () => monotonic.nowMs,
    logger: recording.logger,
  };
  const keys = createKeySet(deps, { name: 'the test', refreshMs: 60_000 });
  return createJwtVerifier(
    { keys, nowMs: () => clock.nowMs },
    { issuer: ISSUER, audience: AUDIENCE },
  );
}

async function start(load: () => Promise<unknown>): Promise<void> {
  identity = await startIdentity({}, {}, undefined, createVerifier(load));
  ({ sessionId } = await grant(identity.store, ANN, 2 * HOUR_S * 1_000));
}

beforeAll(async () => {
  key = await createSigningKey('k1');
  otherKey = await createSigningKey('k2');
});
beforeEach(async () => {
  clock.nowMs = NOW_S * 1_000;
  keyServer = await startKeyServer();
  keyServer.serve(key);
  loadWithinMs = 10_000;
  await start(() => loadKeysByUrl(keyServer.url, loadWithinMs)());
});
afterEach(async () => {
  await identity.stop();
  await keyServer.stop();
});

const claims = (): Claims => ({ sub: 'ann', sid: sessionId, iat: NOW_S, exp: NOW_S + HOUR_S });
const ask = (token: string): Promise<HttpAnswer> =>
  send(identity.url, [['Authorization', `Bearer ${token}`], REQUEST_ID]);
const statusOf = async (token: string): Promise<number> => (await ask(token)).status;

describe('a JWT access token', () => {
  it('leads to its user and to the time of its session', async () => {
    const answer = await ask(await signToken(key, claims()));
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({
      user: { id: 'ann' },
      session: { remainingSeconds: 2 * HOUR_S },
    });
    expect(identity.asked.at(-1)).toBe('authenticated=true,user_id=ann');
  });

  it.each(['RS256', 'PS512', 'ES384', 'EdDSA'])('may be signed by %s', async (alg) => {
    const signing = await createSigningKey('other', alg);
    keyServer.serve(signing);
    expect(await statusOf(await signToken(signing, claims()))).toBe(200);
  });

  it('may name its type in full and several audiences', async () => {
    const aud = ['https://other.test', AUDIENCE];
    const typ = 'application/at+JWT';
    expect(await statusOf(await signToken(key, { ...claims(), aud }, { typ }))).toBe(200);
  });

  it('is good until its exp and not one millisecond longer', async () => {
    const token = await signToken(key, claims());
    clock.nowMs = (NOW_S + HOUR_S) * 1_000 - 1;
    expect(await statusOf(token)).toBe(200);
    clock.nowMs += 1;
    expect(await statusOf(token)).toBe(401);
  });

  it('ends with its session at once', async () => {
    const token = await signToken(key, claims());
    expect(await statusOf(token)).toBe(200);
    await identity.store.deleteSession(sessionId);
    expect(await statusOf(token)).toBe(401);
  });

  const secret = () => generateSecret('HS256');
  const FAULTS: readonly (readonly [string, () => Promise<string>])[] = [
    ['of another issuer', () => signToken(key, { ...claims(), iss: 'https://evil.test' })],
    ['of no issuer', () => signToken(key, { ...claims(), iss: undefined })],
    ['for another audience', () => signToken(key, { ...claims(), aud: 'https://shop.test' })],
    ['for nobody', () => signToken(key, { ...claims(), aud: undefined })],
    ['without an end', () => signToken(key, { ...claims(), exp: undefined })],
    ['with a text for an end', () => signToken(key, { ...claims(), exp: 'never' })],
    ['without its time', () => signToken(key, { ...claims(), iat: undefined })],
    ['expired', () => signToken(key, { ...claims(), exp: NOW_S - 1 })],
    ['not yet good', () => signToken(key, { ...claims(), nbf: NOW_S + 10 })],
    ['without a session', () => signToken(key, { ...claims(), sid: undefined })],
    ['with a number for a session', () => signToken(key, { ...claims(), sid: 7 })],
    ['with a session that no store can hold', () => signToken(key, { ...claims(), sid: 'a b' })],
    ['of an unknown session', () => signToken(key, { ...claims(), sid: 'nobody' })],
    ['without a user', () => signToken(key, { ...claims(), sub: undefined })],
    ['of the session of somebody else', () => signToken(key, { ...claims(), sub: 'bob' })],
    ['of the type of an ID token', () => signToken(key, claims(), { typ: 'JWT' })],
    ['without a type', () => signToken(key, claims(), { typ: undefined })],
    ['signed by a key of another name', () => signToken(otherKey, claims())],
    ['signed by another key', () => signToken({ ...otherKey, kid: 'k1' }, claims())],
    [
      'signed by a secret',
      async () =>
        new SignJWT({ ...claims(), iss: ISSUER, aud: AUDIENCE } as JWTPayload)
          .setProtectedHeader({ alg: 'HS256', kid: 'k1', typ: 'at+jwt' })
          .sign(await secret()),
    ],
    [
      'signed by nobody',
      async () => {
        const [, body = ''] = (await signToken(key, claims())).split('.');
        const header = { alg: 'none', kid: 'k1', typ: 'at+jwt' };
        return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${body}.AA`;
      },
    ],
    [
      'with another body',
      async () => {
        const [header, , signature] = (await signToken(key, claims())).split('.');
        const body = Buffer.from(JSON.stringify({ ...claims(), sub: 'bob' })).toString('base64url');
        return [header, body, signature].join('.');
      },
    ],
    ['of garbage', () => Promise.resolve('a.b.c')],
    ['of more than 4096 characters', () => signToken(key, { ...claims(), sub: 'a'.repeat(4_096) })],
  ];

  it('is refused with the same bytes whatever its fault is, and charged', async () => {
    const opaque = await ask('idt_unknown');
    for (const [name, make] of FAULTS) {
      identity.asked.length = 0;
      const { status, headers, body } = await ask(await make());
      expect([name, status, headers['www-authenticate'], body]).toEqual([
        name,
        401,
        'Bearer realm="identity", error="invalid_token"',
        opaque.body,
      ]);
      expect(identity.asked.at(-1)).toBe('authenticated=false,remote_address=127.0.0.1');
    }
  });
});

describe('the key set', () => {
  it('is read once for many tokens', async () => {
    const token = await signToken(key, claims());
    await Promise.all(Array.from({ length: 20 }, () => ask(token)));
    expect(keyServer.asked()).toBe(1);
  });

  it('is asked once in 5 s for keys that it has not', async () => {
    await ask(await signToken(key, claims()));
    for (let at = 0; at < 20; at++)
      expect(
        await statusOf(await signToken({ ...otherKey, kid: `x${String(at)}` }, claims())),
      ).toBe(401);
    expect(keyServer.asked()).toBe(1);
    monotonic.nowMs += 5_000;
    keyServer.serve(key, otherKey);
    expect(await statusOf(await signToken(otherKey, claims()))).toBe(200);
    expect(keyServer.asked()).toBe(2);
  });

  it.each<[string, (server: KeyServer) => void]>([
    [
      'answers 500',
      (server) => {
        server.answer((response) => response.writeHead(500).end('oops'));
      },
    ],
    [
      'sends garbage',
      (server) => {
        server.answer((response) => response.end('<html>'));
      },
    ],
    [
      'sends JSON that is no key set',
      (server) => {
        server.answer((response) => response.end('{"keys":7}'));
      },
    ],
    [
      'points elsewhere',
      (server) => {
        server.answer((response) => response.writeHead(302, { Location: '/x' }).end());
      },
    ],
    [
      'never answers',
      (server) => {
        server.answer(() => undefined);
      },
    ],
    [
      'stops in the middle',
      (server) => {
        server.answer((response) => response.write('{"keys":['));
      },
    ],
    [
      'sends more than anybody needs',
      (server) => {
        server.answer((response) => response.end(`{"keys":[],"x":"${'a'.repeat(2_000_000)}"}`));
      },
    ],
  ])(
    'that %s is 503 within a second, asked once in 5 s, never 401, never charged',
    async (_, spoil) => {
      spoil(keyServer);
      loadWithinMs = 600;
      const token = await signToken(key, claims());
      const elapsedMs = startStopwatch();
      for (let at = 0; at < 5; at++) {
        const answer = await ask(token);
        expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
      }
      expectFigure({ name: 'answer', value: elapsedMs(), unit: 'ms', below: 1_000 });
      expect(keyServer.asked()).toBe(1);
      expect(identity.asked.filter((text) => text.startsWith('authenticated='))).toEqual([]);
      keyServer.serve(key);
      loadWithinMs = 10_000;
      monotonic.nowMs += 5_000;
      await eventually(async () => {
        expect(await statusOf(token)).toBe(200);
      });
      expect(keyServer.asked()).toBe(2);
    },
  );

  describe.each<[string, () => Promise<object>]>([
    ['is none', () => Promise.resolve({ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' })],
    [
      'is private',
      async () => exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey),
    ],
    ['is a secret', () => Promise.resolve({ kty: 'oct', k: 'AAAA' })],
    [
      'is of another type',
      async () => exportJWK((await generateKeyPair('RS256', { extractable: true })).publicKey),
    ],
    [
      'is too short',
      () => {
        const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
        return Promise.resolve({ ...publicKey.export({ format: 'jwk' }), alg: 'RS256' });
      },
    ],
  ])('with a key that %s', (_, make) => {
    beforeEach(async () => {
      const bad = { ...(await make()), kid: 'bad' };
      keyServer.answer((response) => response.end(JSON.stringify({ keys: [bad, key.jwk] })));
    });

    it('refuses tokens that name it as any other, and charges them', async () => {
      const opaque = await ask('idt_unknown');
      const rsa = await createSigningKey('bad', 'RS256');
      for (const signing of [{ ...otherKey, kid: 'bad' }, rsa]) {
        identity.asked.length = 0;
        const { status, body } = await ask(await signToken(signing, claims()));
        expect([status, body]).toEqual([401, opaque.body]);
        expect(identity.asked.at(-1)).toBe('authenticated=false,remote_address=127.0.0.1');
      }
    });

    it('takes tokens of the other keys', async () => {
      expect(await statusOf(await signToken(key, claims()))).toBe(200);
    });
  });

  it('says once in the log that one of its keys cannot be used, and takes it when it can', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const repaired = { ...key, kid: 'bad', privateKey, jwk: await exportJWK(publicKey) };
    const secret = { ...(await exportJWK(privateKey)), kid: 'bad' };
    keyServer.answer((response) => response.end(JSON.stringify({ keys: [secret] })));
    const token = await signToken(repaired, claims());
    for (let at = 0; at < 3; at++) {
      expect(await statusOf(token)).toBe(401);
      monotonic.nowMs += 5_000;
    }
    const warnings = lines.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ message }) => message)).toEqual([
      'the key set has a key that cannot be used, tokens that name it are refused',
    ]);
    expect(JSON.stringify(lines)).not.toContain(secret.d);
    keyServer.serve({ ...repaired, jwk: { ...repaired.jwk, kid: 'bad' } });
    expect(await statusOf(token)).toBe(200);
  });

  it('keeps serving what it knows while its source is away, and tells it once', async () => {
    const token = await signToken(key, claims());
    expect(await statusOf(token)).toBe(200);
    keyServer.answer((response) => response.writeHead(503).end());
    for (let at = 1; at <= 3; at++) {
      monotonic.nowMs += 61_000;
      expect(await statusOf(token)).toBe(200);
      // The next time passes only then: nobody asks while somebody does.
      await eventually(() => {
        expect(loads).toBe(1 + at);
      });
    }
    expect(keyServer.asked()).toBe(4);
    expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    monotonic.nowMs += 61_000;
    expect(await statusOf(await signToken(otherKey, claims()))).toBe(503);
  });

  it('leaves the opaque tokens alone while it is away', async () => {
    keyServer.answer((response) => response.writeHead(500).end());
    const { token } = await grant(identity.store, ANN, 60_000);
    expect(await statusOf(token)).toBe(200);
    expect(await statusOf('abc')).toBe(401);
    expect(keyServer.asked()).toBe(0);
  });

  it('may be a file, which is read again after a change', async () => {
    await identity.stop();
    await start(() => loadKeysFromFile(`${identity.file}.jwks`)());
    await writeFile(`${identity.file}.jwks`, JSON.stringify({ keys: [key.jwk] }));
    expect(await statusOf(await signToken(key, claims()))).toBe(200);
    await writeFile(`${identity.file}.jwks`, JSON.stringify({ keys: [otherKey.jwk] }));
    monotonic.nowMs += 61_000;
    await eventually(async () => {
      expect(await statusOf(await signToken(key, claims()))).toBe(401);
    });
    expect(await statusOf(await signToken(otherKey, claims()))).toBe(200);
  });
});
