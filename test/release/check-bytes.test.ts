import { connect } from 'node:net';
import type { PendingRequest } from '../../src/core/ports';
import { HTTP_TIMEOUTS } from '../../src/platform/http-listener';
import type { CheckSet, ProxyName } from '../../src/request-maps/check';
import { parseCheckFiles } from '../../src/rule-sources/check-files';
import { DEFAULT_BOUNDS } from '../../src/transport/bounds';
import { createHttpTransport } from '../../src/transport/http/transport';
import { createSnapshot, type HealthStatus } from '../../streams';
import { recordingStatistics, SERVING } from '../support/transport-harness';
import { httpLimits } from '../support/http-limits';
import { startProxy, stopProxies } from '../support/edge/proxies';
import { findProxy } from '../support/edge/proxy-programs';

/*
 * Clients write what they like, a proxy passes on what it likes of it, and what it serves is what was judged, or it refuses the
 * request. The upstream answers with the path that it serves; the service keeps the path that it judged.
 */

const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  await stopProxies();
  for (const close of closes.splice(0)) await close();
});

const OK = {
  ...{ kind: 'decision', overallCode: 'OK', statuses: [], responseHeaders: [] },
} as const;

/** The HTTP port, behind which everything is allowed, and the paths that were judged, by the ids of the requests. */
async function startJudge(proxy: ProxyName) {
  const text = `domain: d
proxy: ${proxy}
trusted_proxies: [127.0.0.1]
denied_status: 403
descriptors:
  - entries: [{ key: id, header: x-id }, { key: path, field: path }]
`;
  const from = { files: [{ file: 'f', bytes: Buffer.from(text) }], isDirectory: false };
  const { set } = parseCheckFiles(from, DEFAULT_BOUNDS);
  const transport = createHttpTransport(
    {
      health: createSnapshot<HealthStatus<string>>(SERVING),
      statistics: recordingStatistics().statistics,
      check: {
        checks: createSnapshot<CheckSet | undefined>(set),
        policies: { policies: 'off', retryAfter: false, nearHeader: '', jitterPercent: 0 } as never,
        warn: () => undefined,
      },
    },
    { host: '127.0.0.1', port: 0, limits: httpLimits(), timeouts: HTTP_TIMEOUTS },
  );
  const judged = new Map<string, string>();
  transport.requests$.subscribe((batch: readonly PendingRequest[]) => {
    for (const { request, responder, callId } of batch) {
      for (const { entries } of request.descriptors)
        judged.set(entries[0]?.value ?? '', entries[1]?.value ?? '');
      responder.answer(callId, OK as never);
    }
  });
  const address = await transport.listen();
  closes.push(() => transport.close(0));
  return { judged, weir: `127.0.0.1:${String('port' in address ? address.port : 0)}` };
}

/** What ingress-nginx' template makes of `auth-url`: these headers, in place of those of the example. */
const INGRESS_HEADERS = `
      proxy_set_header X-Forwarded-Proto "";
      proxy_set_header X-Request-ID $request_id;
      proxy_set_header Host weir.default.svc.cluster.local;
      proxy_set_header X-Original-URL $scheme://$http_host$request_uri;
      proxy_set_header X-Original-Method $request_method;
      proxy_set_header X-Sent-From "nginx-ingress-controller";
      proxy_set_header X-Real-IP $remote_addr;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Auth-Request-Redirect $request_uri;`;

const withServedPath = (text: string) =>
  text.replace('return 200 "hello\\n"', 'return 200 "served $http_x_id $uri"');

const asIngress = (text: string) =>
  withServedPath(text).replace(/# Exactly what[^]*?proxy_set_header Host \$host;/, INGRESS_HEADERS);

const hex = (byte: number) => byte.toString(16).padStart(2, '0');

/** Requests with a byte in one of their parts; a text has a character for each byte. */
const PARTS: Readonly<Record<string, (byte: string, code: string) => readonly string[]>> = {
  method: (b) => [`G${b}T /login HTTP/1.1`, 'Host: x'],
  'start of the path': (b) => [`GET ${b}/login HTTP/1.1`, 'Host: x'],
  path: (b) => [`GET /log${b}in HTTP/1.1`, 'Host: x'],
  'end of the path': (b) => [`GET /login${b} HTTP/1.1`, 'Host: x'],
  'first letter': (b) => [`GET /${b}ogin HTTP/1.1`, 'Host: x'],
  'last segment': (b) => [`GET /login/${b} HTTP/1.1`, 'Host: x'],
  'dots in the path': (b) => [`GET /x${b}../login HTTP/1.1`, 'Host: x'],
  'a slash in the path': (b) => [`GET /a/${b}/login/. HTTP/1.1`, 'Host: x'],
  'code in the path': (_, code) => [`GET /log%${code}in HTTP/1.1`, 'Host: x'],
  'code before dots': (_, code) => [`GET /x%${code}../login HTTP/1.1`, 'Host: x'],
  'code behind the path': (_, code) => [`GET /login%${code.toUpperCase()} HTTP/1.1`, 'Host: x'],
  'byte before a code': (b) => [`GET /${b}%a9 HTTP/1.1`, 'Host: x'],
  'byte behind a code': (b) => [`GET /%c3${b} HTTP/1.1`, 'Host: x'],
  'two codes': (_, code) => [`GET /%25${code}/%${code}%${code} HTTP/1.1`, 'Host: x'],
  query: (b) => [`GET /login?a=${b}/../b HTTP/1.1`, 'Host: x'],
  version: (b) => [`GET /login HTTP/1.${b}`, 'Host: x'],
  'end of the host': (b) => ['GET /login HTTP/1.1', `Host: x${b}`],
  'start of the host': (b) => ['GET /login HTTP/1.1', `Host: ${b}.shop.example`],
  host: (b) => ['GET /login HTTP/1.1', `Host: a${b}.shop.example`],
  port: (b) => ['GET /login HTTP/1.1', `Host: a:8${b}1`],
  'host of the request line': (b) => [`GET http://x${b}/login HTTP/1.1`, 'Host: x'],
  'host of the request line, and more': (b) => [`GET http://x${b}a/login HTTP/1.1`, `Host: x${b}a`],
  scheme: (b) => [`GET htt${b}://x/login HTTP/1.1`, 'Host: x'],
  'no host': (b) => [`GET /login${b} HTTP/1.0`, 'A: b'],
  'name of a header': (b) => ['GET /login HTTP/1.1', 'Host: x', `X-Original${b}URI: /else`],
  'value of a header': (b) => ['GET /login HTTP/1.1', 'Host: x', `X-Original-URI: /else${b}`],
};

/** Caddy says whether a request meets its own rule `path /login`. */
const withMetRule = (text: string) =>
  text.replace(
    'respond "hello\n"',
    ['/login', 'other']
      .map((met) => `respond ${met === 'other' ? '' : met} "served {header.X-Id} ${met}"`)
      .join('\n\t'),
  );

interface Served {
  readonly what: string;
  readonly judged: string | undefined;
  readonly served: string;
}

/** Sends bytes, and reads until the connection ends. */
function exchange(port: number, bytes: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    // Half a request, for which a proxy would wait longer.
    const cut = setTimeout(() => {
      socket.end();
    }, 5_000);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(cut);
      resolve(Buffer.concat(chunks));
    });
    socket.write(bytes, 'latin1');
  });
}

/** The body of the first answer, where it is 200. */
function bodyOf(answer: Buffer): Buffer | undefined {
  const end = answer.indexOf('\r\n\r\n');
  const head = answer.subarray(0, end).toString('latin1');
  if (!/^HTTP\/1\.\d 200 /.test(head)) return undefined;
  const [, length = '0'] = /content-length: (\d+)/i.exec(head) ?? [];
  return answer.subarray(end + 4, end + 4 + Number(length));
}

/** Writes all bytes into all parts; what was served of it. */
async function writeBytes(url: string, judged: ReadonlyMap<string, string>): Promise<Served[]> {
  const port = Number(new URL(url).port);
  const requests = Object.entries(PARTS).flatMap(([part, write]) =>
    Array.from({ length: 256 }, (_, byte) => ({
      what: `${part}, byte ${hex(byte)}`,
      lines: write(String.fromCharCode(byte), hex(byte)),
    })),
  );
  const served: Served[] = [];
  let next = 0;
  const ask = async (): Promise<void> => {
    for (let at = next++; at < requests.length; at = next++) {
      const { what, lines } = requests[at] as (typeof requests)[number];
      const text = [
        lines[0],
        `X-Id: ${String(at)}`,
        ...lines.slice(1),
        'Connection: close',
        '\r\n',
      ];
      const body = bodyOf(await exchange(port, text.join('\r\n')));
      const [, id = '', path] = /^served (\d+) (.*)$/s.exec(body?.toString() ?? '') ?? [];
      if (path !== undefined) served.push({ what, judged: judged.get(id), served: path });
    }
  };
  await Promise.all(Array.from({ length: 24 }, ask));
  return served;
}

const partsOf = (served: readonly Served[]) =>
  new Set(served.map(({ what }) => what.replace(/, byte ..$/, '')));

describe.each([
  ['nginx', withServedPath],
  ['ingress-nginx', asIngress],
] as const)('behind %s', (proxy, edit) => {
  const program = findProxy('nginx');
  (program === undefined ? it.skip : it)(
    'judges the path that is served, whatever byte a client writes anywhere',
    async () => {
      const { judged, weir } = await startJudge(proxy);
      const { url } = await startProxy(program ?? '', 'nginx', weir, edit);
      const served = await writeBytes(url, judged);
      expect(served.filter((one) => one.judged !== one.served)).toEqual([]);
      expect(partsOf(served)).toEqual(new Set(Object.keys(PARTS)));
    },
    120_000,
  );
});

describe('behind caddy', () => {
  const program = findProxy('caddy');
  (program === undefined ? it.skip : it)(
    'judges a path as one of its rules where Caddy does, whatever byte a client writes anywhere',
    async () => {
      const { judged, weir } = await startJudge('caddy');
      const { url } = await startProxy(program ?? '', 'caddy', weir, withMetRule);
      const served = await writeBytes(url, judged);
      const isLogin = (path: string | undefined) => path === '/login';
      expect(served.filter((one) => isLogin(one.judged) !== isLogin(one.served))).toEqual([]);
      expect(served.filter(({ judged: path }) => path === undefined)).toEqual([]);
      expect(served.filter(({ what }) => what === 'first letter, byte 4c')).toMatchObject([
        { served: '/login' },
      ]);
      expect(served.length).toBeGreaterThan(1_000);
    },
    120_000,
  );
});
