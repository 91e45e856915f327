import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { Profile } from 'pprof-format';
import { createDebugListener, type DebugDeps } from '../../src/transport/debug/listener';
import { eventually } from '../support/edge/eventually';
import { httpLimits } from '../support/http-limits';
import { piecesOf } from '../support/run-steps';
import { sendBytes } from '../support/raw-http';

const run = promisify(execFile);

const quiet: DebugDeps['live'] = {
  start: () => undefined,
  stop: () => undefined,
  base: { version: 1, read: () => ({}) },
  next: () => ({}),
};

describe('the debug port', () => {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  async function start(deps: Partial<DebugDeps> = {}, allowedHosts: readonly string[] = []) {
    const listener = createDebugListener(
      {
        dumpRules: () => ['shop.user: unit=HOUR requests_per_unit=2'],
        dumpStats: () => piecesOf('ratelimit.service.', 'config_load_success: 1\n'),
        dumpStatsJson: () => piecesOf('{"counters":', '{"a":1}}'),
        live: quiet,
        clock: () => 1_700_000_000,
        ...deps,
      },
      { host: '127.0.0.1', port: 0, limits: httpLimits(), allowedHosts },
    );
    const address = await listener.listen();
    cleanups.push(() => listener.close(0));
    const port = 'port' in address ? address.port : 0;
    const url = `http://127.0.0.1:${String(port)}`;
    return { listener, port, get: (path: string, method = 'GET') => fetch(url + path, { method }) };
  }

  it('lists its pages, and every page of the list is there', async () => {
    const { get } = await start();
    const index = await (await get('/')).text();
    const paths = index.split('\n').flatMap((line) => /^(\/\S*): /.exec(line)?.[1] ?? []);
    const operators = '/api/v1/';
    expect(paths).toEqual([
      '/',
      '/ui',
      '/rlconfig',
      '/stats',
      '/schema',
      operators,
      '/debug/pprof/',
    ]);
    // Where there is one, test/integration/admin-api.test.ts asks it.
    const pages = paths.filter((path) => path !== operators);
    for (const path of pages) expect((await get(path)).status).toBe(200);
  });

  it('shows rules and statistics', async () => {
    const { get } = await start();
    expect(await (await get('/rlconfig')).text()).toBe(
      'shop.user: unit=HOUR requests_per_unit=2\n',
    );
    expect(await (await get('/stats')).text()).toBe('ratelimit.service.config_load_success: 1\n');
    const json = await get('/stats?format=json');
    expect(json.headers.get('content-type')).toBe('application/json');
    expect(await json.json()).toEqual({ counters: { a: 1 } });
    expect((await get('/stats?format=xml')).status).toBe(400);
  });

  it('cuts the statistics that it cannot show to their end', async () => {
    const { get } = await start({
      *dumpStats() {
        yield 'a: 1\n'.repeat(100_000);
        throw new Error('no more to show');
      },
    });
    const answer = await get('/stats');
    await expect(answer.text()).rejects.toThrow();
    expect((await get('/stats?format=json')).status).toBe(200);
  });

  it('shows nothing where no rules are loaded', async () => {
    const { get } = await start({ dumpRules: () => [] });
    expect(await (await get('/rlconfig')).text()).toBe('');
  });

  it('survives a page that fails', async () => {
    const { get } = await start({
      dumpRules: () => {
        throw new Error('no rules to show');
      },
    });
    const answer = await get('/rlconfig');
    expect([answer.status, await answer.text()]).toEqual([
      500,
      'this page failed: no rules to show\n',
    ]);
  });

  it('refuses other pages and methods with what there is', async () => {
    const { get } = await start();
    const missing = await get('/nope');
    expect(missing.status).toBe(404);
    expect(await missing.text()).toContain('/rlconfig');
    const post = await get('/stats', 'POST');
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await get('/', 'HEAD')).status).toBe(200);
  });

  it('takes CPU and heap profiles that pprof opens, one at a time', async () => {
    const { get } = await start();
    const kept: object[] = [];
    const folder = await mkdtemp(join(tmpdir(), 'weir-profile-'));
    cleanups.push(() => rm(folder, { recursive: true }));
    const tops: string[] = [];
    for (const [index, kind] of ['profile', 'heap'].entries()) {
      const pending = get(`/debug/pprof/${kind}?seconds=2`);
      for (const other of ['profile', 'heap']) {
        const second = await get(`/debug/pprof/${other}?seconds=1`);
        expect([second.status, await second.text()]).toEqual([
          409,
          'a profile is being taken already, try again later\n',
        ]);
      }
      const until = Date.now() + 600;
      while (Date.now() < until) kept.push(Array.from({ length: 1_000 }, () => ({})));
      const answer = await pending;
      expect(answer.status).toBe(200);
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect(Profile.decode(gunzipSync(bytes)).sample.length).toBeGreaterThan(0);
      const file = join(folder, `${String(index)}.pb.gz`);
      await writeFile(file, bytes);
      tops.push(await pprofTop(file));
    }
    expect(tops).toEqual([
      expect.stringMatching(/^no Go here$|Type: cpu[^]*Duration: \d/),
      expect.stringMatching(/^no Go here$|Type: inuse_space[^]*Duration: \d/),
    ]);
    expect(kept.length).toBeGreaterThan(0);
    // The first time, Go builds its tool.
  }, 120_000);

  it("gives V8's own format to those who ask for it", async () => {
    const { get } = await start();
    /** In this large process one profile may use up the time for the next. */
    const take = (path: string) =>
      eventually(async () => {
        const answer = await get(path);
        expect(answer.status).toBe(200);
        return answer;
      });
    const cpu = await take('/debug/pprof/profile?seconds=1&format=v8');
    expect(cpu.headers.get('content-disposition')).toContain('cpu.cpuprofile');
    expect(await cpu.json()).toHaveProperty('nodes');
    const heap = await take('/debug/pprof/heap?seconds=1&format=v8&gc=1');
    expect(await heap.json()).toHaveProperty('head');
    expect((await get('/debug/pprof/profile?seconds=nan')).status).toBe(400);
  });

  it('refuses a profile of more than a minute', async () => {
    const { get } = await start();
    for (const kind of ['profile', 'heap']) {
      const answer = await get(`/debug/pprof/${kind}?seconds=61`);
      expect([answer.status, await answer.text()]).toEqual([
        400,
        'seconds is "61", expected a whole number from 1 to 60\n',
      ]);
    }
  });

  it('keeps browsers from guessing the type of any answer', async () => {
    const { get } = await start();
    const paths = [
      '/',
      '/ui',
      '/rlconfig',
      '/stats',
      '/stats?format=json',
      '/debug/pprof/',
      '/nope',
    ];
    for (const path of [...paths, '/debug/pprof/heap?seconds=1', '/debug/pprof/heap?seconds=0']) {
      const answer = await get(path);
      await answer.arrayBuffer();
      expect([path, answer.headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
    }
  });

  it.each([
    ['127.0.0.1', 200],
    ['[::1]:6070', 200],
    ['localhost:6070', 200],
    ['ratelimit', 200],
    ['debug.example.com:6070', 200],
    ['DEBUG.example.com', 200],
    ['evil.example.com', 421],
    ['127.0.0.1.evil.example.com', 421],
    ['localhost.evil.example.com:6070', 421],
    ['debug.example.com.evil.example', 421],
    ['[::1].evil.example', 421],
  ])('asked under the name %s answers %i', async (host, status) => {
    const { port } = await start({}, ['debug.example.com']);
    for (const path of ['/stats', '/ui/events']) {
      const answer = await sendBytes(
        port,
        `HEAD ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toMatch(`HTTP/1.1 ${String(status)} `);
    }
  });

  const LINK = ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'];
  it.each([
    ['an image or a script of another site', ['Sec-Fetch-Site: cross-site'], 403, 403],
    ['a sibling of this host', ['Sec-Fetch-Site: same-site'], 403, 403],
    [
      'a frame in another site',
      ['Sec-Fetch-Site: cross-site', LINK[0], 'Sec-Fetch-Dest: iframe'],
      403,
      403,
    ],
    ['a form of another site', ['Origin: http://evil.example', ...LINK], 403, 403],
    ['another origin of an old browser', ['Origin: http://evil.example'], 403, 403],
    ['a link of another site', ['Sec-Fetch-Site: cross-site', ...LINK], 200, 403],
    ['this site', ['Sec-Fetch-Site: same-origin'], 200, 200],
    ['somebody who typed the address', ['Sec-Fetch-Site: none', ...LINK], 200, 200],
    ['a program', [], 200, 200],
  ])('lets %s start nothing that it may not', async (_who, headers, shown, started) => {
    const { port } = await start();
    const ask = async (path: string) => {
      const lines = [
        `HEAD ${path} HTTP/1.1`,
        'Host: localhost:6070',
        ...headers,
        'Connection: close',
      ];
      return Number((await sendBytes(port, `${lines.join('\r\n')}\r\n\r\n`)).slice(9, 12));
    };
    for (const path of ['/', '/ui', '/rlconfig', '/stats', '/debug/pprof/'])
      expect([path, await ask(path)]).toEqual([path, shown]);
    for (const path of ['/debug/pprof/profile?seconds=1', '/ui/events'])
      expect([path, await ask(path)]).toEqual([path, started]);
  });

  it('answers a request without a host as one for a foreign host', async () => {
    const { port } = await start();
    for (const path of ['/stats', '/ui/events'])
      expect(await sendBytes(port, `GET ${path} HTTP/1.0\r\n\r\n`)).toMatch('HTTP/1.1 421 ');
    // Without one a request of HTTP/1.1 is no request.
    expect(await sendBytes(port, 'GET /stats HTTP/1.1\r\n\r\n')).toMatch('HTTP/1.1 400 ');
  });

  it('names the setting that allows a host', async () => {
    const { port } = await start();
    const head = 'GET /rlconfig HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n';
    const answer = await sendBytes(port, head);
    expect(answer).toContain('host "evil.example" is not served here, ');
    expect(answer).toContain('DEBUG_ALLOWED_HOSTS');
    expect(answer).not.toContain('shop.user');
  });

  it('sends four dumps at a time to clients that do not read, and more after they left', async () => {
    const lines = Array.from({ length: 16_000 }, () => 'x'.repeat(999));
    let made = 0;
    const { port, get } = await start({
      *dumpRules() {
        for (const line of lines) {
          made += 1;
          yield line;
        }
      },
    });
    const idle = ['/rlconfig', '/rlconfig', '/rlconfig', '/rlconfig'].map((path) => {
      const socket = connect(port, '127.0.0.1');
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      return socket;
    });
    await eventually(async () => {
      for (const path of ['/rlconfig', '/stats', '/ui']) {
        const refused = await get(path, 'HEAD');
        expect([path, refused.status, refused.headers.get('retry-after')]).toEqual([
          path,
          429,
          '1',
        ]);
      }
    });
    expect(await (await get('/stats')).text()).toBe(
      'operator calls have used their share of the time, try again in 1 s\n',
    );
    for (const socket of idle) socket.destroy();
    await eventually(async () => {
      expect((await get('/stats')).status).toBe(200);
    });
    // No line is made before there is room for it.
    expect(made).toBeLessThan(4 * lines.length);
    expect(await (await get('/rlconfig')).text()).toBe(`${lines.join('\n')}\n`);
  });

  it('makes one dump of the statistics at a time: it holds them all', async () => {
    let open = 0;
    let most = 0;
    const { get } = await start({
      *dumpStats() {
        open += 1;
        most = Math.max(most, open);
        for (let at = 0; at < 1_000; at += 1) yield Promise.resolve();
        open -= 1;
        yield 'a: 1\n';
      },
    });
    const answers = await Promise.all(['/stats', '/stats', '/stats'].map((path) => get(path)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(most).toBe(1);
  });

  it('makes one page of a connection at a time, and answers all that came together', async () => {
    let open = 0;
    let most = 0;
    const { port } = await start({
      *dumpRules() {
        open += 1;
        most = Math.max(most, open);
        yield 'd.k: unit=MINUTE requests_per_unit=1';
        open -= 1;
      },
    });
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    let seen = '';
    socket.on('data', (bytes) => (seen += String(bytes)));
    socket.write('GET /rlconfig HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(200));
    await eventually(() => {
      expect(seen.match(/HTTP\/1.1 200/g)).toHaveLength(200);
    });
    socket.destroy();
    expect(most).toBe(1);
  });

  it('answers sixteen calls that come together, and again on the same connection', async () => {
    const { port } = await start();
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    let seen = '';
    socket.on('data', (bytes) => (seen += String(bytes)));
    for (const answers of [16, 32, 48]) {
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(16));
      await eventually(() => {
        expect(seen.match(/HTTP\/1.1 200/g)).toHaveLength(answers);
      });
    }
    socket.destroy();
  });

  it('ends a running profile when it closes', async () => {
    const { get, listener } = await start();
    const pending = get('/debug/pprof/profile?seconds=60');
    const second = async (): Promise<number> =>
      (await get('/debug/pprof/profile?seconds=0')).status;
    expect(await second()).toBe(400);
    await listener.close(5_000);
    expect((await pending).status).toBe(503);
  });
});

/** What `go tool pprof -top` says about a file, where Go is installed. */
async function pprofTop(file: string): Promise<string> {
  try {
    await run('go', ['version']);
  } catch {
    return 'no Go here';
  }
  return (await run('go', ['tool', 'pprof', '-top', file])).stdout;
}
