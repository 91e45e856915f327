import { once } from 'node:events';
import { connect } from 'node:net';
import { expectFigure, isSiege } from '../../support/edge/figure';
import { besideAPoliteClient } from '../../support/edge/h2-siege';
import { createStoreFile } from '../../support/identity';
import { startIdentityProcess, stopIdentities } from '../../support/edge/identity-service';
import { sendBytes } from '../../support/raw-http';
import { createTemporaryDirectory } from '../../support/rule-directory';
import type { Service } from '../../support/edge/service';
import {
  expired,
  ONE_RULE,
  sharedService,
  startSmallService,
  stopSmallServices,
} from '../../support/edge/small-service';

/** Many requests on one connection, or a good one with garbage after it: nobody gets the answer of another, and nobody waits long. */

afterAll(async () => {
  await stopIdentities();
  await stopSmallServices();
});

/** All of the answer to the first request, and only behind it the refusal of what followed. */
const answerThenRefusal = (status: string, part: string) =>
  new RegExp(
    `^HTTP/1.1 ${status}\\r\\n(?:(?!HTTP/1.1)[^])*${part}[^]*}HTTP/1.1 400 Bad Request\\r\\n`,
  );
const GARBAGE = 'GARBAGE\r\n\r\n';
const portOf = (url: string) => Number(new URL(url).port);
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

it('never answers a question on /json with the refusal of what follows it', async () => {
  const service = await sharedService();
  const body = '{"domain":"d","descriptors":[{"entries":[{"key":"k","value":"v"}]}]}';
  const post = `POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`;
  expect(await sendBytes(portOf(service.http), post + GARBAGE)).toMatch(
    answerThenRefusal('200 OK', '"overallCode":"OK"'),
  );
});

it('never answers a token with the refusal of what follows it', async () => {
  const place = await createStoreFile();
  const identity = await startIdentityProcess({ IDENTITY_STORE_FILE: place.file });
  const answer = await sendBytes(portOf(identity.baseUrl), get('/v1/userinfo') + GARBAGE);
  await place.remove();
  expect(answer).toMatch(answerThenRefusal('401 Unauthorized', '"error":"unauthorized"'));
});

it('writes no refusal into a stream of events', async () => {
  const service = await sharedService();
  const socket = connect(portOf(service.debug), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString())).on('error', () => undefined);
  const closed = once(socket, 'close').catch(() => undefined);
  socket.write(get('/ui/events'));
  await once(socket, 'data');
  socket.write(GARBAGE);
  await Promise.race([closed, expired(3_000)]);
  socket.destroy();
  expect(received).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*\r\nevent: rules\n/);
  expect(received).not.toContain('HTTP/1.1 400');
});

/** The socket is read in pieces of 64 KiB: a flood is more than one. */
const FLOOD_BYTES = isSiege ? 900_000 : 100_000;
const CONNECTIONS = isSiege ? 10 : 2;

/** Writes as many requests at once as a flood holds; settles with how many it wrote and how many were answered. */
function flood(url: string, request: string) {
  const count = Math.floor(FLOOD_BYTES / request.length);
  return new Promise<readonly [number, number]>((resolve) => {
    const socket = connect(portOf(url), '127.0.0.1');
    let answered = 0;
    let rest = '';
    socket.on('error', () => undefined);
    socket.setEncoding('latin1').on('data', (bytes: string) => {
      const parts = (rest + bytes).split('Content-Length:');
      rest = parts.at(-1)?.slice(-20) ?? '';
      answered += parts.length - 1;
      if (answered >= count) socket.destroy();
    });
    socket.on('close', () => {
      resolve([count, answered]);
    });
    socket.write(request.repeat(count));
  });
}

describe('a service with a map of requests', () => {
  const checks = createTemporaryDirectory();
  let service: Service;
  beforeAll(async () => {
    checks.write('check.map', 'domain: d\ndescriptors: [{ entries: [{ key: k, header: x-k }] }]\n');
    service = await startSmallService(ONE_RULE, { CHECK_CONFIG: `${checks.path}/check.map` });
  });
  afterAll(() => {
    checks.remove();
  });

  it.each([
    { port: 'http', path: '/check' },
    { port: 'http', path: '/livez' },
    { port: 'debug', path: '/' },
  ] as const)(
    'decides beside floods of $path on the $port port, and answers all of them',
    async ({ port, path }) => {
      const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nX-K: a\r\n\r\n`;
      let floods: (readonly [number, number])[] = [];
      const { failures, worstMs, grownMb } = await besideAPoliteClient(service, async () => {
        const all = Array.from({ length: CONNECTIONS }, () => flood(service[port], request));
        floods = await Promise.all(all);
      });
      expect(failures).toEqual([]);
      expect(floods.filter(([asked, answered]) => asked !== answered)).toEqual([]);
      expectFigure({ name: 'longest wait of a decision', value: worstMs, unit: 'ms', below: 50 });
      expectFigure({ name: 'growth of memory', value: grownMb, unit: 'MB', below: 150 });
    },
    120_000,
  );
});
