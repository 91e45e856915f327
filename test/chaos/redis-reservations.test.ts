import { setTimeout as delay } from 'node:timers/promises';
import type { BudgetLimiter } from '../../src/core/budgets/budget';
import type { BudgetState, Reservation } from '../../src/core/kinds/kind';
import type { Increment } from '../../src/core/ports';
import { budgetEntry, budgetLimiterOf } from '../support/budget-arbitraries';
import { eventually } from '../support/edge/eventually';
import { batch, increment } from '../support/increments';
import {
  runRedisCounters,
  stopRedisCounters,
  type RunningRedisCounters,
} from '../support/edge/redis-counters';
import {
  MISCONF,
  noPermissionFor,
  NOREPLICAS,
  OOM,
  READONLY,
  type RedisRefusal,
} from '../support/edge/redis-refusals';
import { startSentinels } from '../support/edge/redis-sentinels';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startTcpProxy, type TcpProxy } from '../support/edge/tcp-proxy';

jest.setTimeout(60_000);

const YEAR = 31_536_000;
const LIMIT = 1_000_000;
const ESTIMATE = 5;
const ACTUAL = 3;

const entries = (['window', 'gcra'] as const).map((sort) =>
  budgetEntry({ sort, limit: LIMIT, burst: LIMIT, periodSeconds: YEAR, chargeDenied: false }),
);
const GATE: BudgetLimiter = budgetLimiterOf({
  entries,
  reserve: { leaseMs: 3_600_000, isReleased: false },
  blocks: [],
  isForced: false,
  isShadow: false,
});

const halts: (() => Promise<void>)[] = [];
let serial = 0;
const freshKey = (): string => `{c:outage_${String((serial += 1))}~1}~r`;

const asked = (key: string, hits: number, reservation?: Reservation): Increment =>
  increment(key, hits, { limiter: GATE, reservation });

type Call = 'reserve' | 'settle';

/** Callers of one counter, each of whom reserves, is told, and settles; what they were told. */
function createCallers(counters: RunningRedisCounters, key: string) {
  const ids: string[] = [];
  const told: Record<Call, Set<string>> = { reserve: new Set(), settle: new Set() };
  let failures = 0;
  const call = async (mode: Call, id: string): Promise<boolean> => {
    const hits = mode === 'reserve' ? ESTIMATE : ACTUAL;
    const one = asked(key, hits, { mode, id, saysHits: true });
    const reply = await counters.add(batch([one])).catch(() => undefined);
    const isTold = reply !== undefined && reply.failures === undefined;
    if (isTold) told[mode].add(id);
    else failures += 1;
    return isTold;
  };
  const once = async (): Promise<void> => {
    const id = `id-${String(ids.length)}`;
    ids.push(id);
    await call('reserve', id);
    await call('settle', id);
  };
  let isStopped = false;
  const work = async (): Promise<void> => {
    while (!isStopped) {
      await once();
      // What fails at once leaves room for the rest.
      await delay(1);
    }
  };
  const done = Promise.all(Array.from({ length: 4 }, work));
  const halt = async (): Promise<void> => {
    isStopped = true;
    await done;
  };
  halts.push(halt);
  const standing = async (): Promise<BudgetState> => {
    const { states } = await counters.add(batch([asked(key, 0)]));
    return states?.[0] as BudgetState;
  };
  return {
    ids,
    told,
    get failures() {
      return failures;
    },
    untilTold: (more: number) => {
      const least = told.settle.size + more;
      return eventually(() => {
        expect(told.settle.size).toBeGreaterThanOrEqual(least);
      });
    },
    untilFailed: (more: number) => {
      const least = failures + more;
      return eventually(() => {
        expect(failures).toBeGreaterThanOrEqual(least);
      });
    },
    /** Each settles once more: one that is open ends, one that is not changes nothing. */
    async stop() {
      await halt();
      for (const id of ids)
        await eventually(async () => {
          expect(await call('settle', id)).toBe(true);
        });
    },
    /** Of each that may be open once and no more; nothing is held. `isSure`: no reply was lost. */
    async expectCharged(isSure: boolean) {
      const { entries: all, held, open } = await eventually(standing);
      expect([held, open]).toEqual([0, 0]);
      const used = all[0]?.used ?? 0;
      if (isSure) expect(used).toBe(ACTUAL * told.reserve.size);
      expect(used % ACTUAL).toBe(0);
      expect(used).toBeGreaterThanOrEqual(ACTUAL * told.reserve.size);
      expect(used).toBeLessThanOrEqual(ACTUAL * ids.length);
    },
    standing,
  };
}

afterEach(async () => {
  await stopRedisCounters();
  await Promise.all(halts.splice(0).map((halt) => halt()));
});

const REFUSED: Readonly<Record<string, RedisRefusal>> = {
  OOM,
  NOREPLICAS,
  MISCONF,
  READONLY,
  'NOPERM for HDEL': noPermissionFor('hdel'),
  'NOPERM for HMGET': noPermissionFor('hmget'),
};

describe('reservations while one server refuses', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  it.each(Object.keys(REFUSED))(
    '(%s) fail, are charged once at most, and what was told stays',
    async (name) => {
      const { mount, clear } = REFUSED[name] as RedisRefusal;
      const counters = runRedisCounters({ address: server.address });
      await counters.untilConnected();
      const callers = createCallers(counters, freshKey());
      await callers.untilTold(20);
      await mount(server);
      await callers.untilFailed(20);
      await clear(server);
      await callers.untilTold(20);
      await callers.stop();
      await callers.expectCharged(false);
    },
  );

  it('leave counters of others alone, in the same call', async () => {
    const counters = runRedisCounters({ address: server.address });
    await counters.untilConnected();
    const [wrong, right] = [freshKey(), freshKey()];
    await server.client.set(wrong, 'x');
    const ids = ['a', 'b'] as const;
    const all = [wrong, right].map((key, at) =>
      asked(key, ESTIMATE, { mode: 'reserve', id: ids[at] as string, saysHits: true }),
    );
    const { failures, states } = await counters.add(batch(all));
    expect([...(failures?.keys() ?? [])]).toEqual([0]);
    expect(states?.[1]).toMatchObject({ open: 0 });
    const looked = await counters.add(batch([asked(right, 0)]));
    expect(looked.states?.[0]).toMatchObject({ open: 1, held: ESTIMATE });
  });
});

interface Case {
  readonly name: string;
  readonly mount: (proxy: TcpProxy, server: RedisServer) => unknown;
  readonly clear: (proxy: TcpProxy, server: RedisServer) => unknown;
}
const CASES: readonly Case[] = [
  {
    name: 'connections are reset in place of answers',
    mount: (proxy) => {
      proxy.resetInsteadOfAnswer();
    },
    clear: () => undefined,
  },
  {
    name: 'an answer is cut',
    mount: ({ behaviour }) => (behaviour.cutNextAnswer = true),
    clear: () => undefined,
  },
  {
    name: 'answers are lost',
    mount: ({ behaviour }) => (behaviour.swallow = 'answers'),
    clear: ({ behaviour }) => (behaviour.swallow = 'nothing'),
  },
  {
    name: 'the server stands still (SIGSTOP)',
    mount: (_, server) => {
      server.pause();
    },
    clear: (_, server) => {
      server.resume();
    },
  },
  {
    name: 'the server has forgotten its scripts',
    mount: (_, { client }) => client.script('FLUSH'),
    clear: () => undefined,
  },
];

describe('reservations whose replies are lost', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  beforeAll(async () => {
    server = await startRedisServer();
    proxy = await startTcpProxy(server.port);
  });
  afterAll(async () => {
    await proxy.close();
    await server.stop();
  });

  it.each(CASES.map((each) => [each.name, each] as const))(
    'are charged once at most, and what was told stays: %s',
    async (name, { mount, clear }) => {
      const address = { kind: 'tcp', host: '127.0.0.1', port: proxy.port } as const;
      const counters = runRedisCounters({ address, timeoutMs: 300 });
      await counters.untilConnected();
      const callers = createCallers(counters, freshKey());
      await callers.untilTold(20);
      await mount(proxy, server);
      if (name !== 'the server has forgotten its scripts') await callers.untilFailed(1);
      await clear(proxy, server);
      await callers.untilTold(20);
      await callers.stop();
      await callers.expectCharged(name === 'the server has forgotten its scripts');
    },
  );
});

it('what was replicated of reservations stays after a failover, and is charged once', async () => {
  const setup = await startSentinels();
  try {
    const counters = runRedisCounters({ address: setup.address, timeoutMs: 2_000 });
    await counters.untilConnected();
    const callers = createCallers(counters, freshKey());
    await callers.untilTold(50);
    await setup.failOver();
    await callers.untilTold(20);
    await callers.stop();
    const { entries: all, held, open } = await callers.standing();
    // Redis itself may forget the last writes of a master: a hold, or the end of one, which then ends with its lease.
    expect(held).toBe(ESTIMATE * open);
    expect((all[0]?.used ?? 0) + ACTUAL * open).toBeLessThanOrEqual(ACTUAL * callers.ids.length);
  } finally {
    await stopRedisCounters();
    await setup.stop();
  }
});
