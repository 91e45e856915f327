import type { BudgetLimiter } from '../../src/core/budgets/budget';
import type { BudgetState, Reservation } from '../../src/core/kinds/kind';
import type { Increment } from '../../src/core/ports';
import { budgetEntry, budgetLimiterOf } from '../support/budget-arbitraries';
import { batch, increment } from '../support/increments';
import { connectRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { packRecord } from '../support/packed-record';

const FORBIDDEN = /clock of the server|can't run this command|NOPERM/;
const YEAR = 31_536_000;
const LIMIT = 10;

const limiterOf = (
  leaseMs?: number,
  sorts: readonly ('window' | 'gcra')[] = ['window', 'gcra'],
): BudgetLimiter =>
  budgetLimiterOf({
    entries: sorts.map((sort) => budgetEntry({ sort, limit: LIMIT, periodSeconds: YEAR })),
    reserve: leaseMs === undefined ? undefined : { leaseMs, isReleased: false },
  });
const LIST = limiterOf();
const HELD = limiterOf(600_000);

let server: RedisServer;
let serial = 0;
beforeAll(async () => {
  server = await startRedisServer();
});
afterEach(stopRedisCounters);
afterAll(() => server.stop());

/** Until the clock of the server is past the leases of `SHORT` that were opened before. */
const untilLeaseIsOver = async (): Promise<void> => {
  const now = async (): Promise<number> => {
    const [seconds, micros] = await server.client.time();
    return Number(seconds) * 1_000 + Number(micros) / 1_000;
  };
  const endMs = (await now()) + 2;
  while ((await now()) < endMs);
};

const freshKey = (): string => `{c:faulty_${String((serial += 1))}~1}~r`;

const asked = (
  limiter: BudgetLimiter,
  key: string,
  hits: number,
  mode?: Reservation['mode'],
  id = 'x',
): Increment => {
  const reservation = mode && { mode, id, saysHits: true };
  return increment(key, hits, { limiter: limiter, reservation });
};

const start = async () => {
  const counters = await connectRedisCounters({ address: server.address });
  const add = (...increments: readonly Increment[]) => counters.add(batch(increments));
  /** What is charged and held of the limit in fixed windows. */
  const takenOf = async (key: string, limiter = HELD): Promise<number> => {
    const { states } = await add(asked(limiter, key, 0));
    const state = states?.[0] as BudgetState;
    return (state.entries[0]?.used ?? 0) + state.held;
  };
  /** Plays it beside a counter that nothing is wrong with, which is asked by what the command does not touch. */
  const failureOf = async (one: Increment): Promise<string> => {
    const reply = await add(one, increment(`plain_${String((serial += 1))}`, 1));
    expect(reply.after[1]).toBe(1);
    expect([...(reply.failures?.keys() ?? [])]).toEqual([0]);
    return reply.failures?.get(0)?.message ?? '';
  };
  return { add, takenOf, failureOf };
};

const forbidden = async (command: string, play: () => Promise<void>): Promise<void> => {
  await server.client.acl('SETUSER', 'default', `-${command}`);
  try {
    await play();
  } finally {
    await server.client.acl('SETUSER', 'default', `+${command}`);
  }
};

describe.each([
  ['one limit', ['window']],
  ['two limits', ['window', 'gcra']],
] as const)('a command that the server refuses to reservations of %s', (_, sorts) => {
  const HELD = limiterOf(600_000, sorts);
  /** Its leases are over when the next call comes. */
  const SHORT = limiterOf(1, sorts);

  it.each(['time', 'hmget', 'pexpire', 'hset'])(
    'fails a reserve alone, which then holds nothing: %s',
    async (command) => {
      const { takenOf, failureOf } = await start();
      const key = freshKey();
      await forbidden(command, async () => {
        expect(await failureOf(asked(HELD, key, 4, 'reserve'))).toMatch(FORBIDDEN);
      });
      expect(await takenOf(key)).toBe(0);
      expect(await server.client.exists(key)).toBe(0);
    },
  );

  it.each(['time', 'hmget', 'pexpire', 'hset'])(
    'fails a reserve alone beside others, which stay as they were: %s',
    async (command) => {
      const { add, takenOf, failureOf } = await start();
      const key = freshKey();
      await add(asked(SHORT, key, 1, 'reserve', 'other'));
      await untilLeaseIsOver();
      await add(asked(SHORT, key, 0));
      const lifeMs = await server.client.pttl(key);
      await forbidden(command, async () => {
        // Its lease ends after the key would.
        const later = limiterOf(2 * lifeMs, sorts);
        expect(await failureOf(asked(later, key, 4, 'reserve'))).toMatch(FORBIDDEN);
      });
      expect(await takenOf(key)).toBe(1);
      expect(await server.client.pttl(key)).toBeGreaterThan(0);
    },
  );

  it.each(['time', 'hmget', 'hdel', 'hset'])(
    'fails a settle alone, and its counter never says less than is charged: %s',
    async (command) => {
      const { add, takenOf, failureOf } = await start();
      const key = freshKey();
      await add(asked(HELD, key, 4, 'reserve'), asked(HELD, key, 1, 'reserve', 'other'));
      await forbidden(command, async () => {
        expect(await failureOf(asked(HELD, key, 3, 'settle'))).toMatch(FORBIDDEN);
      });
      expect(await takenOf(key)).toBeGreaterThanOrEqual(3 + 1);
      // It was charged, and is not again more than once.
      await add(asked(HELD, key, 3, 'settle'));
      expect(await takenOf(key)).toBeGreaterThanOrEqual(3 + 1);
      expect(await takenOf(key)).toBeLessThanOrEqual(4 + 3 + 1);
    },
  );

  it('fails the end of the last one alone, where nothing is counted, which then stays: del', async () => {
    const { add, takenOf, failureOf } = await start();
    const key = freshKey();
    await add(asked(HELD, key, 4, 'reserve'));
    await forbidden('del', async () => {
      expect(await failureOf(asked(HELD, key, 0, 'settle'))).toMatch(FORBIDDEN);
    });
    expect(await takenOf(key)).toBe(4);
    await add(asked(HELD, key, 0, 'settle'));
    expect(await server.client.exists(key)).toBe(0);
  });

  it.each(['time', 'hmget', 'hdel', 'hset'])(
    'fails the call that ends leases alone, and none of their charges is lost: %s',
    async (command) => {
      const { add, takenOf, failureOf } = await start();
      const key = freshKey();
      // In one call, for which time stands still.
      await add(asked(SHORT, key, 2, 'reserve', 'a'), asked(HELD, key, 1, 'reserve', 'b'));
      await untilLeaseIsOver();
      await forbidden(command, async () => {
        expect(await failureOf(asked(HELD, key, 0))).toMatch(FORBIDDEN);
      });
      expect(await takenOf(key)).toBe(3);
      await add(asked(HELD, key, 1, 'settle', 'b'), asked(HELD, key, 0));
      expect(await takenOf(key)).toBe(3);
    },
  );
});

it.each(['time', 'get', 'psetex'])('fails an ask of a list alone: %s', async (command) => {
  const { add, failureOf } = await start();
  const key = freshKey();
  await add(asked(LIST, key, 1));
  await forbidden(command, async () => {
    expect(await failureOf(asked(LIST, key, 4))).toMatch(FORBIDDEN);
  });
  const { states } = await add(asked(LIST, key, 0));
  expect(states?.[0]).toMatchObject({ entries: [{ used: 1 }, {}] });
});

/** A byte and doubles, as Lua packs them. */
function figures(first: number, ...others: readonly number[]): Buffer {
  const text = Buffer.alloc(1 + 8 * others.length);
  text[0] = first;
  for (const [at, one] of others.entries()) text.writeDoubleLE(one, 1 + 8 * at);
  return text;
}

/** The field of the first number. */
const FIRST = Buffer.from([0x3f, 0xf0, 0, 0, 0, 0, 0, 0]);

describe.each([
  ['one limit', ['window']],
  ['two limits', ['window', 'gcra']],
] as const)('keys that are not ours, under %s', (_, sorts) => {
  const LIST = limiterOf(undefined, sorts);
  const HELD = limiterOf(600_000, sorts);
  const SHORT = limiterOf(1, sorts);
  const packed = packRecord('f31536000 1 2;');
  const RECORDS = [
    Buffer.from('text'),
    Buffer.from('f31536000 1 2;'),
    packRecord('f31536000 0.5 2;'),
    packRecord('f31536000 NaN 2;'),
    packRecord('f31536000 1 Infinity;'),
    packRecord('f31536000 9007199254740992 1;'),
    packed.subarray(0, -1),
    Buffer.concat([packed, packed]),
  ];

  it.each([
    ['a count', packRecord('f31536000 -100 4102444800;')],
    ['the end of a window', packRecord('f31536000 1 -2;')],
  ])('count %s below 0 as 0, and mend it', async (_, value) => {
    const { add, takenOf } = await start();
    const key = freshKey();
    await server.client.set(key, value);
    expect((await add(asked(LIST, key, 1))).failures).toBeUndefined();
    expect(await takenOf(key, LIST)).toBe(1);
  });

  it.each(RECORDS)('fail the key alone: the record of a list is %j', async (value) => {
    const { failureOf } = await start();
    const key = freshKey();
    await server.client.set(key, value);
    expect(await failureOf(asked(LIST, key, 1))).toMatch(/not an integer/);
    expect(await server.client.getBuffer(key)).toEqual(value);
  });

  it.each(RECORDS)('fail the key alone: the record beside reservations is %j', async (value) => {
    const { failureOf } = await start();
    const key = freshKey();
    const field = Buffer.concat([figures(0, Date.now(), 0, 0), value]);
    await server.client.hset(key, 's', field);
    expect(await failureOf(asked(HELD, key, 1))).toMatch(/not an integer/);
    expect(await failureOf(asked(HELD, key, 1, 'reserve'))).toMatch(/not an integer/);
    expect(await server.client.hgetBuffer(key, 's')).toEqual(field);
  });

  it('fail the key alone where another type stands', async () => {
    const { failureOf } = await start();
    for (const limiter of [LIST, HELD]) {
      const key = freshKey();
      await server.client.rpush(key, 'x');
      expect(await failureOf(asked(limiter, key, 1))).toMatch(/WRONGTYPE/);
    }
    const key = freshKey();
    await server.client.set(key, packed);
    expect(await failureOf(asked(HELD, key, 1, 'reserve'))).toMatch(/WRONGTYPE/);
  });

  it.each([
    ['s', ''],
    ['s', 'text'],
    ['s', figures(1, 1, 1, 1)],
    ['s', figures(2, 1, 1, 1, 1, 2, 3, 4)],
    ['=x', 'text'],
    ['=x', figures(4, 1)],
  ])('fail the key alone: the field %j is %j', async (field, text) => {
    const { add, failureOf } = await start();
    const key = freshKey();
    await add(asked(HELD, key, 4, 'reserve'));
    await server.client.hset(key, field, text);
    expect(await failureOf(asked(HELD, key, 3, 'settle'))).toMatch(/not an integer/);
  });

  it('fail the key alone: a lease that is over is not ours', async () => {
    const { add, failureOf } = await start();
    const key = freshKey();
    await add(asked(SHORT, key, 4, 'reserve'));
    await server.client.hset(key, FIRST, 'text');
    await untilLeaseIsOver();
    expect(await failureOf(asked(HELD, key, 1))).toMatch(/not an integer/);
  });

  it('end what is held, charged, whose leases are gone', async () => {
    const { add, takenOf } = await start();
    const key = freshKey();
    await add(asked(SHORT, key, 3, 'reserve'));
    await server.client.hdel(key, FIRST, '=x');
    await untilLeaseIsOver();
    expect(await takenOf(key)).toBe(3);
    expect(await server.client.hkeys(key)).toEqual(['s']);
  });
});
