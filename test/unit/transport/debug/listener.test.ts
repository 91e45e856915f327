import type { AdminEndpoint } from '../../../../src/transport/debug/admin/admin-router';
import { createDebugListener, type DebugDeps } from '../../../../src/transport/debug/listener';
import { DEFAULT_BOUNDS } from '../../../../src/transport/bounds';
import { httpLimits } from '../../../support/http-limits';
import { sendAsked } from '../../../support/ports/http-call';
import { playPorts, turn } from '../../../support/ports/played-ports';
import { piecesOf } from '../../../support/run-steps';

/** How the port shares its time among calls, and what becomes of a page that fails; what it answers: test/scenarios/ports. */

const ports = playPorts();
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
afterAll(() => {
  ports.end();
});

const PORT = 6_070;
const live: DebugDeps['live'] = {
  start: () => undefined,
  stop: () => undefined,
  base: { version: 1, read: () => ({}) },
  next: () => ({}),
};

async function start(deps: Partial<DebugDeps> = {}) {
  const listener = createDebugListener(
    {
      dumpRules: () => ['shop.user: unit=HOUR requests_per_unit=2'],
      dumpStats: () => piecesOf('a: 1\n'),
      dumpStatsJson: () => piecesOf('{}'),
      live,
      clock: () => 0,
      monotonicMs: () => 0,
      ...deps,
    },
    { host: '', port: PORT, limits: httpLimits(), allowedHosts: [] },
  );
  await listener.listen();
  ends.push(() => listener.close(0));
}

const connect = () => ports.connect(PORT);

async function ask(text: string) {
  const [answer] = await sendAsked(connect, text, false);
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

/** A connection, and how many calls were answered on it. */
function follow() {
  const socket = connect();
  let heard = '';
  socket.on('data', (bytes: Buffer) => (heard += bytes.toString()));
  const untilAnswered = async (count: number) => {
    while ((heard.match(/HTTP\/1.1 200/g)?.length ?? 0) < count) await turn();
  };
  return { socket, untilAnswered };
}

const GET = 'GET /rlconfig HTTP/1.1\r\nHost: a\r\n\r\n';

it('cuts the statistics that it cannot show to their end', async () => {
  await start({
    *dumpStats() {
      yield 'a: 1\n'.repeat(100_000);
      throw new Error('no more to show');
    },
  });
  expect((await ask('GET /stats')).body).toBe('CUT');
  expect((await ask('GET /stats?format=json')).status).toBe(200);
});

it('survives a page that fails', async () => {
  await start({
    dumpRules: () => {
      throw new Error('no rules to show');
    },
  });
  expect(await ask('GET /rlconfig')).toMatchObject({
    status: 500,
    body: 'this page failed: no rules to show\n',
  });
});

it('sends four dumps at a time to clients that do not read, and more after they left', async () => {
  const lines = Array.from({ length: 16_000 }, () => 'x'.repeat(999));
  let made = 0;
  await start({
    *dumpRules() {
      for (const line of lines) {
        made += 1;
        yield line;
      }
    },
  });
  const idle = [1, 2, 3, 4].map(() => {
    const socket = connect();
    socket.write(GET);
    return socket;
  });
  for (let turns = 0; turns < 20; turns += 1) await turn();
  for (const path of ['/rlconfig', '/stats', '/ui']) {
    const { status, headers } = await ask(`HEAD ${path}`);
    expect([path, status, headers.get('retry-after')]).toEqual([path, 429, '1']);
  }
  expect((await ask('GET /stats')).body).toBe(
    'operator calls have used their share of the time, try again in 1 s\n',
  );
  for (const socket of idle) socket.destroy();
  for (let turns = 0; turns < 20; turns += 1) await turn();
  expect((await ask('GET /stats')).status).toBe(200);
  // No line is made before there is room for it.
  expect(made).toBeLessThan(lines.length);
  expect((await ask('GET /rlconfig')).body).toBe(`${lines.join('\n')}\n`);
});

it('makes one dump of the statistics at a time: it holds them all', async () => {
  let open = 0;
  let most = 0;
  await start({
    *dumpStats() {
      open += 1;
      most = Math.max(most, open);
      for (let at = 0; at < 1_000; at += 1) yield Promise.resolve();
      open -= 1;
      yield 'a: 1\n';
    },
  });
  const answers = await Promise.all(
    ['/stats', '/stats', '/stats'].map((path) => ask(`GET ${path}`)),
  );
  expect(answers.map(({ status, body }) => [status, body])).toEqual(
    answers.map(() => [200, 'a: 1\n']),
  );
  expect(most).toBe(1);
});

it('makes one page of a connection at a time, and answers all that came together, again and again', async () => {
  let open = 0;
  let most = 0;
  await start({
    *dumpRules() {
      open += 1;
      most = Math.max(most, open);
      yield 'd.k: unit=MINUTE requests_per_unit=1';
      open -= 1;
    },
  });
  const { socket, untilAnswered } = follow();
  for (const answers of [16, 32, 232]) {
    socket.write(GET.repeat(answers === 232 ? 200 : 16));
    await untilAnswered(answers);
  }
  socket.destroy();
  expect(most).toBe(1);
});

describe('the operator API', () => {
  /** Each call takes as many milliseconds as it says. */
  async function startAdmin() {
    let nowMs = 0;
    const endpoint = (method: 'GET' | 'POST', name: string): AdminEndpoint => ({
      method,
      path: `/api/v1/${name}`,
      access: 'write',
      *handle({ query }) {
        nowMs += Number(query.get('work'));
        yield;
        if (query.has('fail')) throw new Error('on purpose');
        return { status: 200, body: {} };
      },
    });
    const endpoints = [endpoint('GET', 'rules'), endpoint('POST', 'counters/reset')];
    await start({
      admin: { endpoints, access: 'write', bounds: DEFAULT_BOUNDS },
      monotonicMs: () => nowMs,
    });
    return (ms: number) => {
      nowMs += ms;
    };
  }

  it('survives an endpoint that fails', async () => {
    await startAdmin();
    expect((await ask('GET /api/v1/rules?fail=1')).status).toBe(500);
  });

  it.each(['GET /api/v1/rules?work=100', 'POST /api/v1/counters/reset?work=100'])(
    '%s beyond half a second of work gets 429, and then a tenth of the time',
    async (line) => {
      const advance = await startAdmin();
      const call = async () => {
        const { status, headers, body } = await ask(
          `${line} | Content-Type: application/json | {}`,
        );
        return [status, headers.get('retry-after'), /too_many_calls/.exec(body)?.[0]];
      };
      const served = [200, undefined, undefined];
      const refused = [429, '1', 'too_many_calls'];
      for (let i = 0; i < 6; i += 1) expect(await call()).toEqual(served);
      expect(await call()).toEqual(refused);
      advance(400);
      expect(await call()).toEqual(refused);
      advance(1_000);
      expect(await call()).toEqual(served);
      expect(await call()).toEqual(refused);
    },
  );
});
