import { createServer, type IncomingMessage } from 'node:http';
import type { PendingRequest } from '../../src/core/ports';
import { HTTP_TIMEOUTS } from '../../src/platform/http-listener';
import type { CheckSet } from '../../src/request-maps/check';
import { parseCheckFiles } from '../../src/rule-sources/check-files';
import { DEFAULT_BOUNDS } from '../../src/transport/bounds';
import { createHttpTransport } from '../../src/transport/http/transport';
import { createSnapshot, type HealthStatus } from '../../streams';
import { recordingStatistics, SERVING } from '../support/transport-harness';
import { httpLimits } from '../support/http-limits';
import { exchange } from '../support/ports/http-call';
import { playPorts } from '../support/ports/played-ports';

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
const get = (path: string) => [`GET ${path} HTTP/1.1`, 'Host: x', 'X-User: ann'];
const to = (host: string) => [`${LINE} HTTP/1.1`, `Host: ${host}`, 'X-User: ann'];
const by = (...headers: string[]) => [`${LINE} HTTP/1.1`, 'Host: x', ...headers];

/** Requests with a byte in one of their parts; a text has a character for each byte. */
const PARTS: Readonly<Record<string, (byte: string, code: string) => readonly string[]>> = {
  method: (b) => [`G${b}T /check?page=/login HTTP/1.1`, 'Host: x', 'X-User: ann'],
  'start of the path': (b) => get(`${b}/check?page=/login`),
  path: (b) => get(`/che${b}ck?page=/login`),
  'end of the path': (b) => get(`/check${b}?page=/login`),
  'a slash in the path': (b) => get(`/a/../${b}/check?page=/login`),
  'code in the path': (_, code) => get(`/che%${code}ck?page=/login`),
  'name of the parameter': (b) => get(`/check?pa${b}ge=/a&page=/login`),
  'before the parameter': (b) => get(`/check?a=b${b}page=/login`),
  parameter: (b) => get(`/check?page=/log${b}in`),
  'end of the parameter': (b) => get(`/check?page=/login${b}`),
  'code in the parameter': (_, code) => get(`/check?page=/log%${code}in`),
  'two codes in the parameter': (b, code) => get(`/check?page=%c3%${code}%25${b}`),
  version: (b) => [`${LINE} HTTP/1.${b}`, 'Host: x', 'X-User: ann'],
  'end of the host': (b) => to(`shop.example${b}`),
  'start of the host': (b) => to(`${b}shop.example`),
  host: (b) => to(`shop${b}example`),
  'a host of one byte': (b) => to(b),
  port: (b) => to(`shop.example:8${b}1`),
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
  'name of the header': (b) => by(`X${b}User: bob`, 'X-User: ann'),
  'end of the name of the header': (b) => by(`X-User${b}: ann`),
  'value of the header': (b) => by(`X-User: an${b}n`),
  'end of the value of the header': (b) => by(`X-User: ann${b}`),
  'a header of one byte': (b) => by(`X-User: ${b}`),
  'no host': (b) => [`${LINE}${b} HTTP/1.0`, 'X-User: ann'],
};

const DOOR = 8_080;
const UPSTREAM = 8_081;

const ports = playPorts();
const judged = new Map<string, Values>();
const seen = new Map<string, Values>();
let close: () => Promise<void>;
beforeAll(async () => {
  close = await startDoor();
  startUpstream();
});
afterAll(async () => {
  await close();
  ports.end();
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
    { host: '', port: DOOR, limits: httpLimits(), timeouts: HTTP_TIMEOUTS },
  );
  const ok = { kind: 'decision', overallCode: 'OK', statuses: [], responseHeaders: [] } as never;
  transport.requests$.subscribe((batch: readonly PendingRequest[]) => {
    for (const { request, responder, callId } of batch) {
      const entries = request.descriptors.flatMap((one) => one.entries);
      const values = Object.fromEntries(entries.map(({ key, value }) => [key, value]));
      judged.set(values['id'] ?? '', values);
      responder.answer(callId, ok);
    }
  });
  await transport.listen();
  return () => transport.close(0);
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

function startUpstream(): void {
  createServer((request, response) => {
    try {
      seen.set(String(request.headers['x-id']), seenBy(request));
    } catch {
      // It is no address that an upstream could serve.
    }
    response.end();
  }).listen({ port: UPSTREAM }, () => undefined);
}

/** The status of the answer to these bytes, a character each. */
async function send(port: number, text: string): Promise<number | undefined> {
  const [answer] = await exchange(ports.connect(port), Buffer.from(text, 'latin1'));
  return answer?.status;
}

/** Nothing but `/check` is served there, and a call without a host makes no descriptor of it. */
const REFUSED_PARTS = ['path', 'code in the path', 'a slash in the path', 'no host'];
const REFUSALS = [400, 404, 405, 414, 431];

it.each(Object.entries(PARTS))(
  'the plain door decides for what an upstream sees, or refuses, whatever byte a client writes into: %s',
  async (part, write) => {
    const wrong: unknown[] = [];
    let isDecided = false;
    const ask = async (byte: number): Promise<void> => {
      const [first, ...rest] = write(String.fromCharCode(byte), hex(byte));
      const requestId = `${part} ${hex(byte)}`;
      const text = [first, `X-Id: ${requestId}`, ...rest, 'Connection: close', '\r\n'].join('\r\n');
      const [status = 0] = await Promise.all([send(DOOR, text), send(UPSTREAM, text)]);
      const { id, ...decided } = judged.get(requestId) ?? {};
      if (status === 200 && id !== undefined) {
        isDecided = true;
        const its = seen.get(requestId) ?? decided;
        for (const name of ['host', 'path', 'page', 'user'])
          if (decided[name] !== its[name])
            wrong.push({ byte, name, judged: decided[name], seen: its[name] });
      } else if (!REFUSALS.includes(status) || id !== undefined)
        wrong.push({ byte, status, decided });
    };
    await Promise.all(Array.from({ length: 256 }, (_, byte) => ask(byte)));
    expect(wrong).toEqual([]);
    expect(isDecided).toBe(!REFUSED_PARTS.includes(part));
  },
);
