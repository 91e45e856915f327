import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createTemporaryDirectory } from '../support/rule-directory';
import { startProxy, stopProxies } from '../support/edge/proxies';
import { findProxy } from '../support/edge/proxy-programs';
import { sendBytes } from '../support/raw-http';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startService, stopServices, type Service } from '../support/edge/service';

const EXAMPLES = join(__dirname, '../../examples');
/** Every header by which some proxy says who calls for what. */
const LIES = {
  'X-Forwarded-For': '1.1.1.1',
  'X-Forwarded-Uri': '/',
  'X-Forwarded-Method': 'GET',
  'X-Forwarded-Host': 'else.example',
  'X-Forwarded-Proto': 'https',
  'X-Original-URI': '/',
  'X-Original-URL': 'http://else.example/',
  'X-Original-Method': 'GET',
  'X-Real-IP': '1.1.1.1',
  Forwarded: 'for=1.1.1.1',
};

/** The rules of an example, with a window that ends during no test. */
const rules = createTemporaryDirectory();
let redis: RedisServer | undefined;
let balancer: Server | undefined;
afterAll(() => {
  rules.remove();
});
afterEach(async () => {
  balancer?.close();
  balancer = undefined;
  await stopProxies();
  await stopServices();
  await redis?.stop();
  redis = undefined;
});

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  /** The address from which the client calls. */
  readonly from?: string;
}

interface ForwardAuth {
  readonly address: string;
  readonly trustForwardHeader: boolean;
}

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

function ask(url: string, { headers = {}, method = 'POST', from = '127.0.0.9' }: Asked = {}) {
  return new Promise<Got>((resolve, reject) => {
    const call = request(url, { method, headers, localAddress: from, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    call.on('error', reject);
    call.end();
  });
}

/** A load balancer that appends its client to what that client wrote into `X-Forwarded-For`. */
async function startBalancer(url: string): Promise<string> {
  balancer = createServer(({ headers, method, url: path = '', socket }, response) => {
    const said = String(headers['x-forwarded-for'] ?? '');
    const client = socket.remoteAddress ?? '';
    const hops = said === '' ? client : `${said}, ${client}`;
    request(
      `${url}${path}`,
      { method, headers: { ...headers, 'x-forwarded-for': hops }, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      },
    ).end();
  }).listen(0, '127.0.0.1');
  await once(balancer, 'listening');
  return `http://127.0.0.1:${String((balancer.address() as AddressInfo).port)}`;
}

/** What docs/proxies say where a balancer stands before the proxy. */
const BEHIND_A_BALANCER = {
  nginx: (text: string) =>
    text.replace(
      'listen 8000;',
      'listen 8000;\n    set_real_ip_from 127.0.0.1;\n    real_ip_header X-Forwarded-For;',
    ),
  caddy: (text: string) =>
    text.replace('admin off', 'admin off\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1\n\t}'),
};

/** The service of an example, with Redis. */
async function startExample(name: string) {
  const text = readFileSync(join(EXAMPLES, name, 'config/demo.yaml'), 'utf8');
  rules.write('config/demo.yaml', text.replace('unit: minute', 'unit: year'));
  redis = await startRedisServer();
  return startService({
    env: {
      RUNTIME_ROOT: rules.path,
      CHECK_CONFIG: join(EXAMPLES, name, 'check.yaml'),
      KVSTORE_URL: `127.0.0.1:${String(redis.port)}`,
    },
    waitUntilUp: 'connected',
  });
}

const statusesOf = (answers: readonly Got[]) => answers.map(({ status }) => status).toSorted();

describe.each(['nginx', 'caddy'] as const)('the example of %s', (name) => {
  const program = findProxy(name);
  const where = program === undefined ? it.skip : it;

  async function start(edit?: (text: string) => string) {
    const service = await startExample(name);
    const weir = service.http.replace('http://', '');
    return { service, proxy: await startProxy(program ?? '', name, weir, edit) };
  }

  where(
    'lets three logins pass for each address, and says when to come back',
    async () => {
      const { proxy } = await start();
      const answers: Got[] = [];
      const headers = { Host: 'shop.example' };
      for (let times = 0; times < 4; times += 1)
        answers.push(await ask(`${proxy.url}/login?a=1`, { headers }));
      expect(statusesOf(answers)).toEqual([200, 200, 200, 429]);
      const last = answers.at(-1);
      expect(Number(last?.headers['retry-after'])).toBeGreaterThan(0);
      expect(last?.headers['ratelimit-policy']).toContain('"logins";q=3;w=31536000');
      expect(answers[0]?.body).toBe('hello\n');
      expect(statusesOf([await ask(`${proxy.url}/login`, { from: '127.0.0.10' })])).toEqual([200]);
      expect(statusesOf([await ask(`${proxy.url}/login`, { method: 'GET' })])).toEqual([200]);
      expect(statusesOf([await ask(`${proxy.url}/`)])).toEqual([200]);
    },
    60_000,
  );

  where(
    'gives nothing to a client that writes every forwarding header',
    async () => {
      const { proxy } = await start();
      const statuses = [];
      for (let times = 0; times < 4; times += 1) {
        const headers = {
          ...LIES,
          'X-Forwarded-For': `1.1.1.${String(times)}`,
          'X-Real-IP': `1.1.1.${String(times)}`,
        };
        statuses.push((await ask(`${proxy.url}/x/../%6cogin`, { headers })).status);
      }
      expect(statuses).toEqual([200, 200, 200, 429]);
    },
    60_000,
  );

  where(
    'knows the client behind two hops, whatever it writes itself',
    async () => {
      const { proxy } = await start(BEHIND_A_BALANCER[name]);
      const url = await startBalancer(proxy.url);
      const statuses = [];
      for (let times = 0; times < 4; times += 1) {
        const headers = { 'X-Forwarded-For': `1.1.1.${String(times)}` };
        statuses.push((await ask(`${url}/login`, { headers })).status);
      }
      expect(statuses).toEqual([200, 200, 200, 429]);
      expect((await ask(`${url}/login`, { from: '127.0.0.10' })).status).toBe(200);
    },
    60_000,
  );

  where(
    'admits exactly what the rules say of 200 calls at once of 50 users',
    async () => {
      const { proxy } = await start();
      const users = Array.from({ length: 50 }, (_, at) => `127.0.1.${String(at + 1)}`);
      const calls = users.flatMap((from) =>
        Array.from({ length: 4 }, () => ask(`${proxy.url}/login`, { from })),
      );
      const statuses = statusesOf(await Promise.all(calls));
      expect(statuses.filter((status) => status === 200)).toHaveLength(150);
      expect(statuses.filter((status) => status === 429)).toHaveLength(50);
    },
    60_000,
  );

  where(
    'lets requests pass while Redis is stopped, and while Weir is',
    async () => {
      const { proxy, service } = await start();
      await redis?.stop();
      redis = undefined;
      expect((await ask(`${proxy.url}/login`)).status).toBe(200);
      await service.stop();
      expect((await ask(`${proxy.url}/login`)).status).toBe(200);
    },
    60_000,
  );
});

describe('the example of nginx, beside what nginx refuses itself', () => {
  const program = findProxy('nginx');
  const where = program === undefined ? it.skip : it;

  async function start(edit?: (text: string) => string) {
    const service = await startExample('nginx');
    return startProxy(program ?? '', 'nginx', service.http.replace('http://', ''), edit);
  }

  where(
    'leaves a 403 of nginx what it is, and answers 429 for a limit',
    async () => {
      const files = (text: string) =>
        text.replace('proxy_pass http://127.0.0.1:8001;', 'root /; deny 127.0.0.11;');
      const { url } = await start(files);
      expect((await ask(`${url}/etc/`)).status).toBe(403);
      expect((await ask(`${url}/etc/passwd`, { method: 'GET' })).status).toBe(200);
      const denied = await ask(`${url}/etc/passwd`, { method: 'GET', from: '127.0.0.11' });
      expect([denied.status, denied.headers['retry-after']]).toEqual([403, undefined]);
      const statuses: number[] = [];
      for (let times = 0; times < 4; times += 1) statuses.push((await ask(`${url}/login`)).status);
      expect(statuses).toEqual([404, 404, 404, 429]);
    },
    60_000,
  );

  where(
    'answers HTTP/1.0 without Host',
    async () => {
      const { url } = await start();
      const answer = await sendBytes(Number(new URL(url).port), 'GET /login HTTP/1.0\r\n\r\n');
      expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*hello\n$/);
    },
    60_000,
  );
});

describe('the example of traefik', () => {
  const { http } = parse(readFileSync(join(EXAMPLES, 'traefik/dynamic.yaml'), 'utf8')) as {
    readonly http: {
      readonly middlewares: Readonly<Record<string, { readonly forwardAuth: ForwardAuth }>>;
    };
  };
  const { address, trustForwardHeader } = http.middlewares['weir']?.forwardAuth ?? {};

  /** What Traefik sends for a request, as its documentation of forwardAuth says: what a client wrote beside it comes along. */
  const forward = (service: Service, uri: string, { method = 'POST', from = '192.0.2.9' }: Asked) =>
    ask(`${service.http}${new URL(address ?? '').pathname}`, {
      method: 'GET',
      headers: {
        ...LIES,
        'X-Forwarded-Method': method,
        'X-Forwarded-Proto': 'http',
        'X-Forwarded-Host': 'localhost:8000',
        'X-Forwarded-Uri': uri,
        'X-Forwarded-For': from,
      },
      from: '127.0.0.1',
    });

  it('answers calls that are played as its documentation says', async () => {
    expect(trustForwardHeader).toBe(false);
    const service = await startExample('traefik');
    const answers: Got[] = [];
    for (let times = 0; times < 4; times += 1)
      answers.push(await forward(service, '/x/../%6cogin?a=1', {}));
    expect(statusesOf(answers)).toEqual([200, 200, 200, 429]);
    expect(Number(answers.at(-1)?.headers['retry-after'])).toBeGreaterThan(0);
    const others = [{ from: '192.0.2.10' }, { method: 'GET' }];
    for (const other of others) expect((await forward(service, '/login', other)).status).toBe(200);
    expect((await forward(service, '/', {})).status).toBe(200);
    await redis?.stop();
    redis = undefined;
    expect((await forward(service, '/login', {})).status).toBe(200);
  }, 60_000);
});
