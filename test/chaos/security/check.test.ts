import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../support/edge/eventually';
import { expectFigure, isSiege } from '../../support/edge/figure';
import { besideAPoliteClient } from '../../support/edge/h2-siege';
import { createTemporaryDirectory, type TemporaryDirectory } from '../../support/rule-directory';
import type { Service } from '../../support/edge/service';
import {
  expectAlive,
  inRedis,
  ONE_RULE,
  startSmallService,
  stopSmallServices,
} from '../../support/edge/small-service';
import { watchHealth } from '../../support/edge/watch-health';

/** Clients behind a proxy that asks `/check` choose the URI, the headers and how often: decisions over gRPC go on beside them. */

const HOPS = Array.from({ length: 1_000 }, (_, at) => `10.0.${String(at % 256)}.1`).join(',');
const COOKIES = Array.from({ length: 900 }, (_, at) => `c${String(at)}=${String(at)}`).join(';');
const QUERY = 'a=%ff&%zz=%00&'.repeat(70);
const PATH = '/%2e%2e/x%2f'.repeat(70);
/** Every source of a map at its costliest, within the 16 KiB that Node takes of headers. */
const CHECK = `domain: d
proxy: caddy
trusted_proxies: [127.0.0.0/8, 10.0.0.0/8]
descriptors:
  - when: { field: path, matches: '^(([^/]*/)*)x' }
    entries:
      - { key: k, field: path, match: '(([^/]*/?)*)$' }
  - entries:
      - { key: k, cookie: c899 }
      - { key: k, parameter: a }
  - entries:
      - { key: k, masked_address: { field: remote_address, v4: 24, v6: 56 } }
`;
const COSTLY = [
  'GET /check HTTP/1.1',
  'Host: localhost',
  'X-Forwarded-Method: GET',
  'X-Forwarded-Host: shop',
  'X-Forwarded-Proto: https',
  `X-Forwarded-Uri: ${PATH}?${QUERY}`,
  `X-Forwarded-For: ${HOPS.slice(0, 5_000)}`,
  `Cookie: ${COOKIES.slice(0, 7_000)}`,
  '\r\n',
].join('\r\n');

let checks: TemporaryDirectory | undefined;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await stopSmallServices();
  checks?.remove();
});

/** Sends this on a connection of its own; ends with the statuses that came, unless it does not read them. */
function strike({ http }: Service, text: string, isDeaf: boolean): () => readonly string[] {
  const socket = connect(Number(new URL(http).port), '127.0.0.1');
  sockets.push(socket);
  let answers = '';
  socket.on('error', () => undefined);
  if (isDeaf) socket.pause();
  else
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      answers += chunk;
    });
  socket.write(text);
  return () => [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = '']) => status);
}

/** An attack lasts three seconds in the siege, which judges times; else half a second, and on until it was answered. */
const SECONDS = isSiege ? 3 : 0.5;

describe.each([1, 2])('with %i workers', (workers) => {
  let service: Service;
  beforeAll(async () => {
    checks ??= createTemporaryDirectory();
    checks.write('check.map', CHECK);
    const env = { ...(await inRedis()).env, CHECK_CONFIG: join(checks.path, 'check.map') };
    service = await startSmallService(ONE_RULE, { ...env, WORKERS: String(workers) });
  });

  it.each([
    { how: 'in flocks of sixteen', perSecond: 40, calls: 16, isDeaf: false },
    { how: 'of which no answer is read', perSecond: 15, calls: 16, isDeaf: true },
  ])('decides beside the costliest calls, $how', async ({ perSecond, calls, isDeaf }) => {
    let healthMs = 0;
    let statuses: readonly string[] = [];
    const { failures, worstMs, grownMb } = await besideAPoliteClient(service, async () => {
      const watched = watchHealth(service);
      const flocks: (() => readonly string[])[] = [];
      for (let at = 0; at < SECONDS * perSecond; at += 1) {
        flocks.push(strike(service, COSTLY.repeat(calls), isDeaf));
        await delay(1_000 / perSecond);
      }
      healthMs = await watched();
      await eventually(() => {
        statuses = flocks.flatMap((seen) => seen());
        expect(statuses.length > calls).toBe(!isDeaf);
      });
    });
    expectAlive(service);
    expect(failures).toEqual([]);
    const others = statuses.filter((status) => status !== '200' && status !== '429');
    expect(others).toEqual([]);
    expectFigure({ name: 'longest wait of /healthcheck', value: healthMs, unit: 'ms', below: 500 });
    expectFigure({ name: 'longest wait of a decision', value: worstMs, unit: 'ms', below: 500 });
    expectFigure({ name: 'growth of memory', value: grownMb, unit: 'MB', below: 100 });
  });
});
