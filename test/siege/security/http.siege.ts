import { brotliCompressSync, gzipSync } from 'node:zlib';
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import {
  ONE_RULE,
  expectToWithstand,
  expired,
  inRedis,
  postJson,
  sharedService,
  startSmallService,
  stopSmallServices,
  type Attackers,
} from '../../support/edge/small-service';
import type { Service } from '../../support/edge/service';

/** Attacks of those who reach the HTTP or the debug port. */

const BROTLI = { 'Content-Encoding': 'br' };
const GZIP = { 'Content-Encoding': 'gzip' };

afterAll(stopSmallServices);

const manyEmpty = (count: number) => `[${new Array(count).fill('{}').join(',')}]`;

/** So many posts, a few at a time. */
async function post(
  service: Service,
  count: number,
  make: (index: number) => Buffer | string,
  headers: Readonly<Record<string, string>> = {},
  width = 4,
): Promise<undefined> {
  const statuses = new Set<number | string>();
  let next = 0;
  const caller = async () => {
    while (next < count) statuses.add(await postJson(service, make(next++), headers));
  };
  await Promise.all(Array.from({ length: width }, caller));
}

/** A domain in front of 1 MB of blanks that pack to a seventieth of it. */
function roomy(head: string): Buffer {
  const noise = randomBytes(12_000);
  const blanks = Array.from({ length: 96_000 }, (_, at) =>
    ((noise[at >> 3] ?? 0) >> (at & 7)) & 1 ? ' ' : '\t',
  ).join('');
  return gzipSync((head + blanks).padEnd(1_040_000), { level: 1 });
}

it('answers others while a domain of 520 kB is asked for by 170,000 descriptors in 65 bytes', async () => {
  const service = await sharedService();
  const domain = '1.1.1.1 '.repeat(65_000);
  const bomb = brotliCompressSync(`{"domain":"${domain}","descriptors":${manyEmpty(170_000)}}`);
  await expectToWithstand(service, () => post(service, 5, () => bomb, BROTLI));
});

it('answers others while thousands ask for unknown domains as long as they may be', async () => {
  const service = await sharedService();
  const body = (index: number) =>
    `{"domain":"${String(index)}${':1.1.1.1 '.repeat(110)}","descriptors":${manyEmpty(256)}}`;
  await expectToWithstand(service, () => post(service, 2_000, body));
});

it('keeps nothing of a body beyond what it remembers of its domain', async () => {
  const service = await sharedService();
  const ask = (index: number) =>
    roomy(`{"domain":"unknown-domain-${String(index)}","descriptors":[{}]}`);
  await expectToWithstand(service, () => post(service, 1_000, ask, GZIP));
});

it('keeps nothing of a body beyond the key of a counter that is over its limit', async () => {
  const { env } = await inRedis();
  const service = await startSmallService(ONE_RULE, {
    ...env,
    LOCAL_CACHE_SIZE_IN_BYTES: '1000000',
  });
  const ask = (index: number) => {
    const entry = `{"key":"k","value":"a-value-of-its-own-${String(index)}"}`;
    return roomy(`{"domain":"d","hitsAddend":1000,"descriptors":[{"entries":[${entry}]}]}`);
  };
  await expectToWithstand(service, () => post(service, 1_000, ask, GZIP));
});

it('answers others while 349,000 descriptors come in 53 bytes, again and again', async () => {
  const service = await sharedService();
  const bomb = brotliCompressSync(`{"domain":"d","descriptors":${manyEmpty(349_000)}}`);
  await expectToWithstand(service, () => post(service, 40, () => bomb, BROTLI, 40), {
    growthMb: 100,
  });
});

/** Connections that say something and read nothing; settles when each is answered, cut or refused. */
async function connectDeaf(
  url: string,
  count: number,
  request: Buffer | string,
): Promise<Attackers> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  const answered: Promise<unknown>[] = [];
  for (let i = 0; i < count; i++) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    const ended = once(socket, 'close').catch(() => undefined);
    await Promise.race([once(socket, 'connect'), ended]).catch(() => undefined);
    // A stream without a reader takes what its first buffer holds, and then no more.
    const readable = new Promise((resolve) => socket.once('readable', resolve));
    answered.push(Promise.race([readable, ended, expired(8_000)]));
    socket.write(request);
    sockets.push(socket);
  }
  await Promise.all(answered);
  return {
    leave() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

const HELD = { MAX_HELD_BYTES: String(32 * 2 ** 20) };
/** What may be held, twice (as text and as bytes), and what a request itself takes. */
const HELD_MB = { growthMb: 200 };

it('holds a bounded sum of answers on /json that nobody reads', async () => {
  const service = await startSmallService(ONE_RULE, HELD);
  const bomb = brotliCompressSync(`{"domain":"d","descriptors":${manyEmpty(349_000)}}`);
  const head = `POST /json HTTP/1.1\r\nHost: x\r\nContent-Encoding: br\r\nContent-Length: ${String(bomb.length)}\r\n\r\n`;
  const request = Buffer.concat([Buffer.from(head), bomb]);
  await expectToWithstand(service, () => connectDeaf(service.http, 60, request), HELD_MB);
});

it('holds a bounded sum of pages on the debug port that nobody reads', async () => {
  const rule = (index: number) =>
    `  - { key: key-${String(index)}-${'x'.repeat(100)}, rate_limit: { unit: day, requests_per_unit: 10 } }`;
  const rules = Array.from({ length: 10_000 }, (_, index) => rule(index)).join('\n');
  const service = await startSmallService(`domain: d\ndescriptors:\n${rules}\n`, HELD);
  const request = 'GET /rlconfig HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(10);
  await expectToWithstand(service, () => connectDeaf(service.debug, 150, request), HELD_MB);
});
