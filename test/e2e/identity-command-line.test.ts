import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AuthenticationError } from '../../src/identity/client';
import { eventuallyWithin } from '../support/edge/figure';
import {
  clientOf,
  identityCli,
  identityCommand,
  issue,
  startIdentityProcess,
  statusOf,
  stopIdentities,
  within2s,
  type IdentityProcess,
} from '../support/edge/identity-service';
import { startRedisServer } from '../support/edge/redis-server';
import { createStoreFile } from '../support/identity';

const RULES = join(__dirname, '../../examples/identity');
const run = promisify(execFile);

describe.each(['embedded', 'redis'])(
  'from the command line to the client, users in %s',
  (store) => {
    /** A service and its store, for tests with users of their own. */
    async function start() {
      const file = await createStoreFile();
      const kvstore = store === 'redis' ? await startRedisServer() : undefined;
      const ofStore =
        kvstore === undefined
          ? { IDENTITY_STORE_FILE: file.file }
          : { IDENTITY_STORE: 'kvstore', KVSTORE_URL: `127.0.0.1:${String(kvstore.port)}` };
      const identity = await startIdentityProcess({ RUNTIME_ROOT: RULES, ...ofStore });
      return {
        identity,
        env: identity.env,
        /** All that is stored, as text. */
        stored: async () =>
          kvstore === undefined
            ? readFile(file.file, 'utf8')
            : JSON.stringify([
                await kvstore.client.hgetall('identity:api-keys'),
                await kvstore.client.mget(
                  await kvstore.client.keys('identity:[ust]*:???????????????*'),
                ),
              ]),
        stop: async () => {
          await stopIdentities();
          await kvstore?.stop();
          await file.remove();
        },
      };
    }

    describe('without API keys', () => {
      let identity: IdentityProcess;
      let env: Readonly<Record<string, string>>;
      let stop: () => Promise<void>;
      beforeAll(async () => {
        ({ identity, env, stop } = await start());
      });
      afterAll(() => stop());

      it('leads a token to its user until it is revoked', async () => {
        const token = await issue(env);
        const client = clientOf(identity);
        const info = await eventuallyWithin(() => client.getUserInfo(token), within2s(identity));
        expect(info.user.id).toBe('ann');
        expect(info.session.remainingSeconds).toBeGreaterThan(500);
        expect((await identityCli(env, ['token', 'inspect'], token)).stdout).toContain(
          'isLive\ttrue',
        );

        const revoked = await identityCli(env, ['token', 'revoke'], `${token}\n`);
        expect(revoked.code).toBe(0);
        await eventuallyWithin(async () => {
          await expect(client.getUserInfo(token)).rejects.toBeInstanceOf(AuthenticationError);
        }, within2s(identity));
        expect((await identityCli(env, ['token', 'revoke'], token)).code).toBe(3);
      });

      it.each([
        ['session', 'revoke-all', 'bob'],
        ['user', 'disable', 'cid'],
        ['user', 'delete', 'dan'],
      ])('lets nobody in after identity %s %s', async (...words) => {
        const [, , user] = words;
        const token = await issue(env, user);
        await eventuallyWithin(() => clientOf(identity).getUserInfo(token), within2s(identity));
        expect((await identityCommand(env, words)).code).toBe(0);
        await eventuallyWithin(async () => {
          expect(await statusOf(identity, token)).toBe(401);
        }, within2s(identity));
      });
    });

    describe('with API keys', () => {
      let place: Awaited<ReturnType<typeof start>>;
      beforeAll(async () => {
        place = await start();
      });
      afterAll(() => place.stop());

      it('asks for an API key as soon as there is one', async () => {
        const { identity, env } = place;
        const token = await issue(env);
        await eventuallyWithin(() => clientOf(identity).getUserInfo(token), within2s(identity));
        const key = (await identityCommand(env, ['api-key', 'issue', 'shop'])).stdout.trim();
        await eventuallyWithin(async () => {
          await expect(clientOf(identity).getUserInfo(token)).rejects.toMatchObject({
            name: 'AuthenticationError',
            error: 'invalid_api_key',
          });
        }, within2s(identity));
        expect((await clientOf(identity, key).getUserInfo(token)).user.id).toBe('ann');
        const demo = await identityCommand(env, ['demo']);
        const line = demo.stdout.split('\n').find((text) => text.startsWith('curl ')) ?? 'false';
        await eventuallyWithin(async () => {
          expect((await run('sh', ['-c', line])).stdout).toContain('"code":200');
        }, within2s(identity));
      });

      it('leaves no secret in the log, the metrics or the store', async () => {
        const { identity, env, stored } = place;
        const token = await issue(env, 'eve');
        const key = (await identityCommand(env, ['api-key', 'issue', 'other'])).stdout.trim();
        await eventuallyWithin(
          () => clientOf(identity, key).getUserInfo(token),
          within2s(identity),
        );
        await statusOf(identity, token);
        const metrics = await (await fetch(`${identity.metricsUrl}/metrics`)).text();
        expect(metrics).toContain('identity_userinfo_requests_total{code="200",reason="ok"}');
        expect((await fetch(`${identity.metricsUrl}/healthcheck`)).status).toBe(200);
        const everything = identity.output() + metrics + (await stored());
        for (const credential of [token, key])
          for (const part of [credential, credential.slice(20, 63)])
            expect(everything).not.toContain(part);
        expect(identity.output()).not.toMatch(/\b(?:ann|eve)\b/);
      });
    });
  },
);
