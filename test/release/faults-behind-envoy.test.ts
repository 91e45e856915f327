import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedisProxy, type RedisProxy } from '../support/edge/envoy-redis-proxy';
import {
  itSees,
  keyOf,
  runDrill,
  startDrill,
  type Drill,
  type Fault,
} from '../support/edge/fault-drill';
import { PROGRAMS } from '../support/edge/programs';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';

jest.setTimeout(60_000);

const program = PROGRAMS.envoy();
const whereEnvoyIs = program === undefined ? describe.skip : describe;

interface Case extends Fault {
  readonly says: RegExp;
  readonly mount: () => unknown;
  readonly clear: () => unknown;
}

whereEnvoyIs("Redis, behind Envoy's redis_proxy", () => {
  let server: RedisServer;
  let directory: string;
  let proxy: RedisProxy;
  let drill: Drill;

  const start = (port?: number) =>
    startRedisServer({
      ...(port === undefined ? {} : { port }),
      directory,
      settings: [
        ['appendonly', 'yes'],
        ['appendfsync', 'always'],
      ],
    });

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'weir-drill-'));
    server = await start();
    proxy = await startRedisProxy(program as string, [server.port], { opTimeoutMs: 100 });
    const KVSTORE_URL = `127.0.0.1:${String(proxy.port)}`;
    drill = await startDrill({ KVSTORE_URL, KVSTORE_TIMEOUT: '2s' });
  });
  afterAll(async () => {
    await drill.stop();
    await proxy.stop();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const CASES: readonly Case[] = [
    {
      fault: 'the server is stopped (SIGSTOP), so that Envoy answers `upstream failure`',
      sees: ['UNAVAILABLE'],
      counts: 'unsure',
      says: /upstream failure/,
      mount: () => {
        server.pause();
      },
      clear: () => {
        server.resume();
      },
    },
    {
      fault: 'the server is killed (SIGKILL) and started again, with `appendfsync always`',
      sees: ['UNAVAILABLE'],
      counts: 'unsure',
      says: /upstream failure/,
      mount: () => server.kill(),
      clear: async () => {
        server = await start(server.port);
      },
    },
  ];
  CASES.forEach((each, index) => {
    const value = `caller${String(index)}`;
    itSees(each, () =>
      runDrill(each, {
        ...{ drill, value, says: each.says, mount: each.mount, clear: each.clear },
        count: async () => Number(await server.client.get(keyOf(value))),
      }),
    );
  });
});
