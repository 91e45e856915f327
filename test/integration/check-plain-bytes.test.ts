import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PendingRequest } from '../../src/core/ports';
import { HTTP_TIMEOUTS } from '../../src/platform/http-listener';
import type { CheckSet } from '../../src/request-maps/check/check';
import { parseCheckFiles } from '../../src/rule-sources/check-files';
import { DEFAULT_BOUNDS } from '../../src/transport/bounds';
import { createHttpTransport } from '../../src/transport/http/transport';
import { createSnapshot, type HealthStatus } from '../../streams';
import { recordingStatistics, SERVING } from '../support/transport-harness';
import { httpLimits } from '../support/http-limits';
import { sendBytes } from '../support/raw-http';

/*
 * A proxy that has no words of its own hands a client's bytes to `/check` and to its upstream alike. What is decided is decided for what
 * the upstream sees, or the call is refused: no byte makes a call pass of which nothing was counted.
 */

const MAP = `domain: d
descriptors:
  - entries: [{ key: id, header: x-id }]
  - entries: [{ key: host, field: host }]
  - entries: [{ key: path, field: path }]
  - entries: [{ key: page, parameter: page }]
  - entries: [{ key: user, header: x-user }]
`;
const LINE = 'GET /check?page=/login';
const hex = (byte: number) => byte.toString(16).padStart(2, '0');

/** Requests with a byte in one of their parts; a text has a character for each byte. */
const PARTS: Readonly<Record<string, (byte: string, code: string) => readonly string[]>> = {
  method: (b) => [`G${b}T /check?page=/login HTTP/1.1`, 'Host: x', 'X-User: ann'],
  'start of the path': (b) => [`GET ${b}/check?page=/login HTTP/1.1`, 'Host: x', 'X-User: ann'],
  path: (b) => [`GET /che${b}ck?page=/login HTTP/1.1`, 'Host: x', 'X-User: ann'],
  'end of the path': (b) => [`GET /check${b}?page=/login HTTP/1.1`, 'Host: x', 'X-User: ann'],
  'a slash in the path': (b) => [
    `GET /a/../${b}/check?page=/login HTTP/1.1`,
    'Host: x',
    'X-User: ann',
  ],
  'code in the path': (_, code) => [
    `GET /che%${code}ck?page=/login HTTP/1.1`,
    'Host: x',
    'X-User: ann',
  ],
  'name of the parameter': (b) => [
    `GET /check?pa${b}ge=/a&page=/login HTTP/1.1`,
    'Host: x',
    'X-User: ann',
  ],
  'before the parameter': (b) => [
    `GET /check?a=b${b}page=/login HTTP/1.1`,
    'Host: x',
    'X-User: ann',
  ],
  parameter: (b) => [`GET /check?page=/log${b}in HTTP/1.1`, 'Host: x', 'X-User: ann'],
  'end of the parameter': (b) => [`${LINE}${b} HTTP/1.1`, 'Host: x', 'X-User: ann'],
  'code in the parameter': (_, code) => [
    `GET /check?page=/log%${code}in HTTP/1.1`,
    'Host: x',
    'X-User: ann',
  ],
  'two codes in the parameter': (b, code) => [
    `GET /check?page=%c3%${code}%25${b} HTTP/1.1`,
    'Host: x',
    'X-User: ann',
  ],
  version: (b) => [`${LINE} HTTP/1.${b}`, 'Host: x', 'X-User: ann'],
  'end of the host': (b) => [`${LINE} HTTP/1.1`, `Host: shop.example${b}`, 'X-User: ann'],
  'start of the host': (b) => [`${LINE} HTTP/1.1`, `Host: ${b}shop.example`, 'X-User: ann'],
  host: (b) => [`${LINE} HTTP/1.1`, `Host: shop${b}example`, 'X-User: ann'],
  'a host of one byte': (b) => [`${LINE} HTTP/1.1`, `Host: ${b}`, 'X-User: ann'],
  port: (b) => [`${LINE} HTTP/1.1`, `Host: shop.example:8${b}1`, 'X-User: ann'],
  'host of the request line': (b) => [
    `GET http://x${b}/check?page=/login HTTP/1.1`,
    'Host: y',
    'X-User: ann',
  ],
  'scheme of the request line': (b) => [
    `GET htt${b}://x/check?page=/login HTTP/1.1`,
    'Host: y',
    'X-User: ann',
  ],
  'name of the header': (b) => [`${LINE} HTTP/1.1`, 'Host: x', `X${b}User: bob`, 'X-User: ann'],
  'end of the name of the header': (b) => [`${LINE} HTTP/1.1`, 'Host: x', `X-User${b}: ann`],
  'value of the header': (b) => [`${LINE} HTTP/1.1`, 'Host: x', `X-User: an${b}n`],
  'end of the value of the header': (b) => [`${LINE} HTTP/1.1`, 'Host: x', `X-User: ann${b}`],
  'a header of one byte': (b) => [`${LINE} HTTP/1.1`, 'Host: x', `X-User: ${b}`],
  'no host': (b) => [`${LINE}${b} HTTP/1.0`, 'X-User: ann'],
};

const REQUESTS = Object.entries(PARTS).flatMap(([part, write]) =>
  Array.from({ length: 256 }, (_, byte) => {
    const lines = write(String.fromCharCode(byte), hex(byte));
    return { part, what: `${part}, byte ${hex(byte)}`, lines };
  }),
);

const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});

type Values = Readonly<Record<string, string | undefined>>;

/** The HTTP port, and the values of the entries that it asked about, by the ids of the requests. */
async function startDoor() {
  const from = { files: [{ file: 'f', bytes: Buffer.from(MAP) }], isDirectory: false };
  const { set } = parseCheckFiles(from, DEFAULT_BOUNDS);
  const policies = {
    policies: 'off',
    retryAfter: false,
    nearHeader: '',
    jitterPercent: 0,
  } as never;
  const transport = createHttpTransport(
    {
      health: createSnapshot<HealthStatus<string>>(SERVING),
      statistics: recordingStatistics().statistics,
      check: {
        checks: createSnapshot<CheckSet | undefined>(set),
        policies,
        warn: () => undefined,
      },
    },
    { host: '127.0.0.1', port: 0, limits: httpLimits(), timeouts: HTTP_TIMEOUTS },
  );
  const judged = new Map<string, Values>();
  const ok = { kind: 'decision', overallCode: 'OK', statuses: [], responseHeaders: [] } as never;
  transport.requests$.subscribe((batch: readonly PendingRequest[]) => {
    for (const { request, responder, callId } of batch) {
      const entries = request.descriptors.flatMap((one) => one.entries);
      const values = Object.fromEntries(entries.map(({ key, value }) => [key, value]));
      judged.set(values['id'] ?? '', values);
      responder.answer(callId, ok);
    }
  });
  const address = await transport.listen();
  closes.push(() => transport.close(0));
  return { judged, port: 'port' in address ? address.port : 0 };
}

const inUtf8 = (bytes: string | undefined) => bytes && Buffer.from(bytes, 'latin1').toString();

/** What an upstream reads of a request, by the URL of the platform. */
function seenBy({ url = '', headers }: IncomingMessage): Values {
  const isAbsolute = /^https?:/i.test(url);
  const parsed = new URL(inUtf8(url) ?? '', 'http://upstream');
  const authority = isAbsolute ? /^[^:]*:\/\/([^/?#]*)/.exec(url)?.[1] : headers.host;
  const host = (inUtf8(authority) ?? '').split(':')[0] ?? '';
  return {
    host: host.toLowerCase().replace(/\.$/, ''),
    path: decodeURIComponent(parsed.pathname),
    page: parsed.searchParams.get('page') ?? undefined,
    // An empty one is none.
    user: inUtf8(headers['x-user'] === '' ? undefined : headers['x-user']?.toString()),
  };
}

async function startUpstream() {
  const seen = new Map<string, Values>();
  const server: Server = createServer((request, response) => {
    try {
      seen.set(String(request.headers['x-id']), seenBy(request));
    } catch {
      // It is no address that an upstream could serve.
    }
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closes.push(
    () =>
      new Promise((resolve) =>
        server.close(() => {
          resolve();
        }),
      ),
  );
  return { seen, port: (server.address() as AddressInfo).port };
}

/** Nothing but `/check` is served there, and a call without a host makes no descriptor of it. */
const REFUSED_PARTS = ['path', 'code in the path', 'a slash in the path', 'no host'];
const REFUSALS = [400, 404, 405, 414, 431];

it('the plain door decides for what an upstream sees, or refuses, whatever byte a client writes anywhere', async () => {
  const [door, upstream] = [await startDoor(), await startUpstream()];
  const wrong: unknown[] = [];
  const decided = new Set<string>();
  const ask = async (at: number): Promise<void> => {
    const { part, what, lines } = REQUESTS[at] as (typeof REQUESTS)[number];
    const [first, ...rest] = lines;
    const text = [first, `X-Id: ${String(at)}`, ...rest, 'Connection: close', '\r\n'].join('\r\n');
    const [answer] = await Promise.all([
      sendBytes(door.port, text),
      sendBytes(upstream.port, text),
    ]);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
    const { id, ...judged } = door.judged.get(String(at)) ?? {};
    if (status === 200 && id !== undefined) {
      decided.add(part);
      const seen = upstream.seen.get(String(at));
      if (seen !== undefined) expectSame({ what, judged, seen });
    } else if (!REFUSALS.includes(status) || id !== undefined) wrong.push({ what, status, judged });
  };
  const expectSame = ({ what, judged, seen }: { what: string; judged: Values; seen: Values }) => {
    for (const name of ['host', 'path', 'page', 'user'])
      if (judged[name] !== seen[name])
        wrong.push({ what, name, judged: judged[name], seen: seen[name] });
  };
  let next = 0;
  const askMore = async (): Promise<void> => {
    for (let at = next++; at < REQUESTS.length; at = next++) await ask(at);
  };
  await Promise.all(Array.from({ length: 24 }, askMore));
  expect(wrong).toEqual([]);
  const parts = Object.keys(PARTS).filter((part) => !REFUSED_PARTS.includes(part));
  expect([...decided].sort()).toEqual(parts.sort());
}, 60_000);
