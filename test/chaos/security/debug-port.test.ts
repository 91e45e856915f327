import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../support/edge/eventually';
import { expectFigure, isSiege } from '../../support/edge/figure';
import { besideAPoliteClient } from '../../support/edge/h2-siege';
import type { Service } from '../../support/edge/service';
import {
  expectAlive,
  inRedis,
  startSmallService,
  stopSmallServices,
} from '../../support/edge/small-service';
import { watchHealth } from '../../support/edge/watch-health';

/** Those who reach the debug port, without a token: decisions go on beside whatever they ask for. */

afterAll(stopSmallServices);

const VALUES = 20_000;
/** Sixty-four characters that differ in their last alone. */
const value = (index: number | string) => String(index).padStart(64, 'v');
const RULES = [
  'domain: many\ndescriptors:',
  ...Array.from(
    { length: VALUES },
    (_, at) =>
      `  - { key: k, value: ${value(at)}, rate_limit: { unit: day, requests_per_unit: 10 } }`,
  ),
].join('\n');

const descriptors = Array.from({ length: 20 }, (_, at) => ({
  entries: [{ key: 'k', value: value(`unknown-${String(at)}`) }],
}));
const ASKED = JSON.stringify({ domain: 'many', descriptors });

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const post = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${String(ASKED.length)}\r\n\r\n${ASKED}`;
const EXPLAIN = post('/api/v1/explain');
const LIST = get('/api/v1/rules?offset=10000&limit=10000');

/** What came over all connections: how often each status. */
interface Attack {
  readonly statuses: Map<string, number>;
  readonly sockets: Socket[];
}

/** Sends this on a connection of its own; it is read unless `isDeaf`. */
function strike(
  { statuses, sockets }: Attack,
  service: Service,
  text: string,
  isDeaf = false,
): void {
  const socket = connect(Number(new URL(service.debug).port), '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  if (isDeaf) socket.pause();
  else
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      for (const [, status = ''] of chunk.matchAll(/HTTP\/1\.1 (\d{3}) /g))
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
    });
  socket.write(text);
}

/** An attack lasts four seconds in the siege, which judges times; else half a second. */
const SECONDS = isSiege ? 4 : 0.5;

/** How long an attack lasts at most, where a busy machine answers late. */
const MAX_SECONDS = 20;

/** Mounts an attack for some seconds, `perSecond` times in each, and on until `seen` is fulfilled. */
async function expectDecisionsBeside(
  service: Service,
  perSecond: number,
  once: (attack: Attack, at: number) => void,
  seen: (statuses: Attack['statuses']) => void = () => undefined,
): Promise<void> {
  const attack: Attack = { statuses: new Map(), sockets: [] };
  const isFulfilled = () => {
    try {
      seen(attack.statuses);
      return true;
    } catch {
      return false;
    }
  };
  let healthMs = 0;
  // See h2-polite: what is subtracted there is no more than a guess while the attack takes the other core.
  const { failures, rawP99Ms, grownMb } = await besideAPoliteClient(service, async () => {
    const watched = watchHealth(service);
    const isOver = (at: number) =>
      at >= MAX_SECONDS * perSecond || (at >= SECONDS * perSecond && isFulfilled());
    for (let at = 0; !isOver(at); at += 1) {
      once(attack, at);
      await delay(1_000 / perSecond);
    }
    seen(attack.statuses);
    healthMs = await watched();
    for (const socket of attack.sockets) socket.destroy();
  });
  expectAlive(service);
  expect(failures).toEqual([]);
  expect([...attack.statuses.keys()].filter((status) => status.startsWith('5'))).toEqual([]);
  expectFigure({ name: 'p99 of decisions', value: rawP99Ms, unit: 'ms', below: 50 });
  expectFigure({ name: 'longest wait of /healthcheck', value: healthMs, unit: 'ms', below: 500 });
  expectFigure({ name: 'growth of memory', value: grownMb, unit: 'MB', below: 100 });
  await eventually(async () => {
    expect((await fetch(`${service.debug}/api/v1/version`)).status).toBe(200);
  });
}

const expectSome = (status: string) => (statuses: Attack['statuses']) => {
  expect(statuses.get(status)).toBeGreaterThan(0);
};

describe.each([1, 2])('with %i workers', (workers) => {
  let service: Service;
  beforeAll(async () => {
    const env = workers === 1 ? {} : { ...(await inRedis()).env, WORKERS: String(workers) };
    service = await startSmallService(RULES, env);
  });

  it('decides beside fifty explanations a second of values that no rule has', async () => {
    const mount = (attack: Attack) => {
      strike(attack, service, EXPLAIN);
    };
    await expectDecisionsBeside(service, 50, mount, expectSome('429'));
  });

  it('decides beside explanations that are sent together, and answers the first of each alone', async () => {
    const mount = (attack: Attack) => {
      strike(attack, service, EXPLAIN.repeat(6));
    };
    await expectDecisionsBeside(service, 5, mount, (statuses) => {
      expect(statuses.get('429')).toBeGreaterThanOrEqual(5 * (statuses.get('200') ?? 0));
    });
  });

  it('decides beside lists of ten thousand rules, and refuses those beyond their share of the time', async () => {
    const mount = (attack: Attack) => {
      strike(attack, service, LIST);
    };
    await expectDecisionsBeside(service, 45, mount, expectSome('429'));
  });

  it('decides beside forty connections of sixteen lists each that are never read', async () => {
    await expectDecisionsBeside(service, 10, (attack) => {
      strike(attack, service, LIST.repeat(16), true);
    });
  });

  it('decides beside profiles, one at a time', async () => {
    const kinds = ['profile?seconds=1', 'heap?seconds=1', 'heap?seconds=1&gc=1', 'heap?worker=1'];
    const calls = kinds.map((kind) => get(`/debug/pprof/${kind}`));
    const mount = (attack: Attack, at: number) => {
      strike(attack, service, calls[at % calls.length] ?? '');
    };
    await expectDecisionsBeside(service, 50, mount, expectSome('409'));
  });

  it('decides beside lists of what is limited', async () => {
    const mount = (attack: Attack) => {
      strike(attack, service, get('/api/v1/limited?limit=1000'));
    };
    await expectDecisionsBeside(service, 100, mount, (statuses) => {
      // Counters in Redis are not listed (409); attacks before this one may have used up the time (429).
      expect([workers === 1 ? '200' : '409', '429']).toEqual(
        expect.arrayContaining([...statuses.keys()]),
      );
      expect(statuses.size).toBeGreaterThan(0);
    });
  });

  it('decides beside everything that the port serves', async () => {
    const all = [
      ...['/', '/ui', '/ui/events', '/rlconfig', '/stats', '/stats?format=json', '/nothing'],
      ...[
        '/api/v1/hot?seconds=1',
        '/api/v1/limited?limit=1000',
        '/api/v1/version',
        '/api/v1/rules',
      ],
    ].map(get);
    const calls = [...all, EXPLAIN, post('/api/v1/counters/read')];
    await expectDecisionsBeside(service, 100, (attack, at) => {
      strike(attack, service, calls[at % calls.length] ?? '');
    });
  });
});
