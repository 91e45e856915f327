import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCredential, formatCredential, hashSecret } from '../../src/identity/credential';
import type { JwtVerifier } from '../../src/identity/jwt/jwt-verifier';
import type {
  Decisions,
  DescriptorEntries,
  LimitVerdict,
} from '../../src/identity/limits/decisions';
import { createLimits, type LimitsOptions } from '../../src/identity/limits/limits';
import {
  createIdentityService,
  type IdentityServiceOptions,
} from '../../src/identity/service/create-identity-service';
import { createMetrics } from '../../src/identity/service/metrics';
import { createEmbeddedStore } from '../../src/identity/store/embedded/create-embedded-store';
import { parseUser, type UserRecord } from '../../src/identity/store/records';
import type { IdentityStore } from '../../src/identity/store/store';
import { httpLimits } from './http-limits';
import { createRecordingLogger } from './recording-logger';
import { contentOf, expectNoSecretIn, rememberSecrets } from './secrets';

/** A store file in a new folder. */
export async function createStoreFile() {
  const folder = await mkdtemp(join(tmpdir(), 'weir-identity-'));
  return {
    folder,
    file: join(folder, 'store.json'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Decisions that answer what a test says, and keep what they were asked. */
export function createFakeDecisions() {
  const asked: string[] = [];
  const over = new Map<string, LimitVerdict>();
  let failure: Error | undefined;
  const decisions: Decisions = {
    ask(descriptor) {
      const text = descriptorText(descriptor);
      asked.push(text);
      if (failure !== undefined) return Promise.reject(failure);
      const verdict = over.get(text) ?? {
        isOver: false,
        limit: undefined,
        resetSeconds: undefined,
      };
      return Promise.resolve(verdict);
    },
    close: () => Promise.resolve(),
  };
  return {
    decisions,
    asked,
    over,
    fail(error: Error | undefined) {
      failure = error;
    },
  };
}

export function descriptorText(descriptor: DescriptorEntries): string {
  return descriptor.map(({ key, value }) => `${key}=${value}`).join(',');
}

export const ANN: UserRecord = parseUser({
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
});

/** Gives a user a session and a token; answers the token's text and the ids. */
export async function grant(
  store: IdentityStore,
  user: UserRecord,
  ttlMs: number,
  tokenMs?: number,
) {
  await store.putUsers([user]);
  const sessionId = randomUUID();
  const createdAt = '2026-01-01T00:00:00.000Z';
  await store.createSession({ id: sessionId, userId: user.id, createdAt }, ttlMs);
  const credential = createCredential(randomBytes);
  const { id, secret } = credential;
  const record = { id, secretHash: hashSecret(secret), sessionId, userId: user.id, createdAt };
  await store.createToken(record, tokenMs);
  const token = formatCredential('token', credential);
  rememberSecrets(token);
  return { token, tokenId: id, sessionId };
}

export async function grantApiKey(store: IdentityStore, name: string) {
  const credential = createCredential(randomBytes);
  const { id, secret } = credential;
  const createdAt = '2026-01-01T00:00:00.000Z';
  await store.putApiKey({ id, secretHash: hashSecret(secret), name, createdAt });
  const apiKey = formatCredential('apiKey', credential);
  rememberSecrets(apiKey);
  return { apiKey, id };
}

const DEFAULTS: Omit<IdentityServiceOptions, 'limits'> = {
  address: { host: '127.0.0.1', port: 0 },
  metricsAddress: undefined,
  corsOrigins: [],
  trustedProxies: [],
  profile: 'documented',
};

/** The service on a free port, its clock and its decisions in the hands of the test. */
export async function startIdentity(
  options: Partial<IdentityServiceOptions> = {},
  limitsOptions: Partial<LimitsOptions> = {},
  otherStore?: IdentityStore | ((store: IdentityStore) => IdentityStore),
  jwt?: JwtVerifier,
) {
  const place = await createStoreFile();
  const clock = { nowMs: 1_800_000_000_000 };
  const monotonicMs = () => clock.nowMs;
  const { logger, lines } = createRecordingLogger();
  const openStore = () =>
    createEmbeddedStore({ nowMs: () => clock.nowMs, logger }, { file: place.file });
  const store =
    typeof otherStore === 'function' ? otherStore(openStore()) : (otherStore ?? openStore());
  const fake = createFakeDecisions();
  const metrics = createMetrics();
  const limits = createLimits(
    {
      decisions: fake.decisions,
      monotonicMs,
      onFailure: () => {
        metrics.limiterFailure();
      },
    },
    { failure: 'allow', maxBlocked: 100, ...limitsOptions },
  );
  const service = createIdentityService(
    { store, jwt, limits, metrics, logger, monotonicMs, createRequestId: randomUUID },
    { ...DEFAULTS, limits: httpLimits(), ...options },
  );
  const port = await service.listen();
  return {
    ...fake,
    store,
    clock,
    metrics,
    service,
    lines,
    port,
    file: place.file,
    url: `http://127.0.0.1:${String(port)}/v1/userinfo`,
    /** Every test ends with a look for secrets in all that the service leaves behind. */
    async stop() {
      await service.close(100);
      const places = {
        'the log': JSON.stringify(lines),
        'the metrics': await metrics.print(),
        'the store': contentOf(place.file),
      };
      await place.remove();
      expectNoSecretIn(places);
    },
  };
}

export type IdentityUnderTest = Awaited<ReturnType<typeof startIdentity>>;
