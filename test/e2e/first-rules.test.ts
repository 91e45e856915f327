import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { createTestClient } from '../support/edge/grpc-client';
import { eventually } from '../support/edge/eventually';
import { expectFigure } from '../support/edge/figure';
import { freePort } from '../support/free-port';
import { startRedisServer } from '../support/edge/redis-server';
import { ask, startService, stopServices, type Service } from '../support/edge/service';
import { manyRules } from '../support/many-rules';
import { startAdsServer, type AdsServer } from '../support/edge/xds-server';
import { response, userLimit } from '../support/xds-messages';

let server: AdsServer | undefined;
afterEach(async () => {
  await stopServices();
  server?.stop();
  server = undefined;
});

const CHECK = '/grpc.health.v1.Health/Check';
const BAD = { name: 'shop.rules', domain: 'shop', descriptors: [{ value: 'x' }] };
const GOOD = userLimit('shop', 5);
const ANN = { domain: 'shop', descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }] };

/** What a prober, an operator and a caller see. */
async function look(service: Service) {
  const client = createTestClient(service.grpc);
  const [http, grpc, call, json, debug] = await Promise.all([
    fetch(`${service.http}/healthcheck`).then((answer) => answer.text()),
    client.unary(CHECK, Buffer.alloc(0)).result,
    client.ask(ANN),
    ask(service, 'shop', 'user=ann'),
    fetch(`${service.debug}/rlconfig`).then((answer) => answer.status),
  ]);
  client.close();
  return {
    health: http.trim(),
    serving: grpc.bytes?.[1] === 1,
    decision: [call.code, json.status],
    debug,
  };
}

const FIRST_WAS_BAD = 'the first load had 1 mistake, see the log';
const REFUSED = [status.UNAVAILABLE, 503];
const DECIDED = [status.OK, 200];
const sees = (health: string, decision: readonly number[]) => ({
  health,
  serving: health === 'OK',
  decision,
  debug: 200,
});
const becomes = (service: Service, expected: object) =>
  eventually(
    async () => {
      expect(await look(service)).toEqual(expected);
    },
    // To look is five calls.
    { everyMs: 50 },
  );

interface Case {
  readonly force: boolean;
  readonly needsRules: boolean;
  readonly before: string;
  readonly afterBad: string;
  readonly afterNone: string;
}

const CASES: readonly Case[] = [
  {
    force: false,
    needsRules: false,
    before: 'not healthy: start',
    afterBad: 'OK',
    afterNone: 'OK',
  },
  {
    force: true,
    needsRules: false,
    before: 'OK',
    afterBad: 'OK',
    afterNone: 'OK',
  },
  {
    force: false,
    needsRules: true,
    before: 'not healthy: start, configuration',
    afterBad: 'not healthy: configuration',
    afterNone: 'not healthy: configuration',
  },
  {
    force: true,
    needsRules: true,
    before: 'not healthy: configuration',
    afterBad: 'not healthy: configuration',
    afterNone: 'not healthy: configuration',
  },
];

describe('before there are rules', () => {
  it.each(CASES)(
    'answers on all ports from the first second, and decides once there are good ones: %p',
    async ({ force, needsRules, before, afterBad, afterNone }) => {
      const port = await freePort();
      const service = await startService({
        waitUntilUp: 'answering',
        env: {
          CONFIG_TYPE: 'GRPC_XDS_SOTW',
          CONFIG_GRPC_XDS_SERVER_URL: `127.0.0.1:${String(port)}`,
          CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL: '100ms',
          FORCE_START_WITHOUT_INITIAL_CONFIG: String(force),
          HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED: String(needsRules),
          BACKEND_TYPE: 'memory',
        },
      });
      expectFigure({ name: 'start', value: service.startMs, unit: 'ms', below: 1_000 });
      expect(await look(service)).toEqual(sees(before, REFUSED));
      const { body } = await ask(service, 'shop', 'user=ann');
      expect(body).toMatchObject({ code: 'no_rules', error: 'no rules are loaded yet' });

      server = await startAdsServer({ port });
      const stream = await server.opened(1);
      stream.send(response('v1', 'n1', [BAD]));
      await stream.requested(2);
      await becomes(service, sees(afterBad, REFUSED));
      await eventually(async () => {
        const refused = await ask(service, 'shop', 'user=ann');
        expect(refused.body).toMatchObject({ code: 'no_rules', error: FIRST_WAS_BAD });
      });
      stream.send(response('v2', 'n2', [GOOD]));
      await becomes(service, sees('OK', DECIDED));
      stream.send(response('v3', 'n3', [BAD]));
      await stream.requested(4);
      expect(await look(service)).toEqual(sees('OK', DECIDED));
      stream.send(response('v4', 'n4', []));
      await becomes(service, sees(afterNone, DECIDED));
    },
  );

  it.each([1, 2])(
    'reads files that are there before its ports open, where it may start without rules: %p workers',
    async (workers) => {
      const root = mkdtempSync(join(tmpdir(), 'weir-first-'));
      mkdirSync(join(root, 'config'));
      writeFileSync(join(root, 'config', 'many.yaml'), manyRules(1_000, 5));
      const redis = await startRedisServer();
      const service = await startService({
        waitUntilUp: false,
        env: {
          RUNTIME_ROOT: root,
          FORCE_START_WITHOUT_INITIAL_CONFIG: 'true',
          KVSTORE_URL: `127.0.0.1:${String(redis.port)}`,
          WORKERS: String(workers),
        },
      });
      // The first answer of all: only a port that is closed is asked again.
      const first = await eventually(() => ask(service, 'many', 'path=/api/v1/resource-0'), {
        withinMs: 20_000,
        everyMs: 1,
      });
      expect(first).toMatchObject({ status: 200, body: { overallCode: 'OK' } });
      await service.stop();
      await redis.stop();
      rmSync(root, { recursive: true });
    },
  );

  it('is up in the first second when the store and the rules are both away', async () => {
    const [store, port] = await Promise.all([freePort(), freePort()]);
    const service = await startService({
      waitUntilUp: 'answering',
      env: {
        CONFIG_TYPE: 'GRPC_XDS_SOTW',
        CONFIG_GRPC_XDS_SERVER_URL: `127.0.0.1:${String(port)}`,
        KVSTORE_URL: `127.0.0.1:${String(store)}`,
        KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION: 'true',
      },
    });
    expectFigure({ name: 'start', value: service.startMs, unit: 'ms', below: 1_000 });
    await becomes(service, sees('not healthy: start, store', REFUSED));
  });
});
