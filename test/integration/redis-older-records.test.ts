import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isBudgetLimiter } from '../../src/core/budgets/budget';
import { freeUnits } from '../../src/core/budgets/judge';
import type { BudgetState, CounterState, Limiter } from '../../src/core/kinds/kind';
import type { LimitDefinition } from '../../src/core/rules/definition';
import type { KeyRules } from '../../src/core/rules/rules';
import {
  encodeOperationsCall,
  readOperationsAnswer,
  type ScriptIncrement,
  type OperationsReply,
} from '../../src/counters/redis/operations-call';
import { OPERATIONS_SCRIPT } from '../../src/counters/redis/lua/scripts';
import { unpack } from '../../src/counters/redis/message-pack';
import { callScript } from '../../src/counters/redis/script-call';
import { callBudgets } from '../support/budget-call';
import { limiterOfLimits } from '../support/budget-limiters';
import type { LimitSketch } from '../support/budgets';
import { packRecord, unpackRecord } from '../support/packed-record';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { rulesOf } from '../support/rules';

/*
 * Counters as 1.0.0-rc.1 left them at `start`: 3 hits are charged in each, and in those that reserve 2 are held by `x` and perhaps 1
 * by `y`. Bytes in base64, fields of hashes in pairs.
 */
interface Fixture {
  readonly start: number;
  readonly records: readonly StoredRecord[];
}

interface StoredRecord {
  readonly name: string;
  readonly limits: readonly LimitSketch[];
  /** Of a rule with a list. */
  readonly more?: Parameters<typeof limiterOfLimits>[1];
  readonly text?: string;
  readonly fields?: readonly (readonly [string, string])[];
}

const { start, records } = JSON.parse(
  readFileSync(join(__dirname, '../fixtures/records-of-rc1.json'), 'utf8'),
) as Fixture;

let server: RedisServer;
let serial = 0;
beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

function limiterOf({ limits, more }: StoredRecord): Limiter {
  if (more !== undefined) return limiterOfLimits(limits, more);
  const rules = rulesOf('d', [{ key: 'k', limit: limits[0] as Partial<LimitDefinition> }]);
  const { anyValue } = rules.domains.get('d')?.top as KeyRules;
  return anyValue?.limit?.limiter as Limiter;
}

/** A counter that stands as the record says, a second later. */
async function restore(record: StoredRecord) {
  const key = `older_${String((serial += 1))}`;
  const { text = '', fields } = record;
  const bytesOf = (base64: string): Buffer => Buffer.from(base64, 'base64');
  if (fields === undefined) await server.client.set(key, bytesOf(text));
  else
    for (const [field, value] of fields)
      await server.client.hset(key, bytesOf(field), bytesOf(value));
  const limiter = limiterOf(record);
  const ask = async (
    hits: number,
    more: Partial<ScriptIncrement> = {},
  ): Promise<OperationsReply> => {
    const asked = { key, hits, times: 1, ttlSeconds: 3_600, limiter, ...more };
    const nowSeconds = start + 1;
    const when = { nowSeconds, nowMs: nowSeconds * 1_000 };
    if (isBudgetLimiter(limiter)) return callBudgets(server.client, [asked], when);
    const args = encodeOperationsCall({
      ...{ increments: [asked], groupEnds: undefined, isDeclaringKeys: true },
      ...{ nowSeconds, nowMicros: nowSeconds * 1_000_000 },
    });
    const answer = await callScript(server.client, OPERATIONS_SCRIPT, args, 'eval');
    return readOperationsAnswer(unpack(answer as Buffer), [asked]);
  };
  return { key, ask };
}

const settle = { mode: 'settle', id: 'x', saysHits: true } as const;

/** Hits in use under each limit, those that are held not among them. */
function usedOf({ states }: OperationsReply, limiter: Limiter): readonly number[] {
  const state = states[0];
  if (!isBudgetLimiter(limiter)) {
    const { kind, size, periodTicks } = limiter as Limiter<CounterState>;
    return [
      size -
        Math.floor(
          kind.free(limiter as Limiter<CounterState>, state as CounterState) / periodTicks,
        ),
    ];
  }
  const budget = { ...(state as BudgetState), held: 0, open: 0 };
  return limiter.budget.entries.map(
    (entry, at) =>
      entry.limiter.size - Math.floor(freeUnits(entry, budget, at) / entry.limiter.periodTicks),
  );
}

const isSlots = ({ limits }: StoredRecord, at: number): boolean => limits[at]?.isInFlight === true;

function openOf({ states }: OperationsReply) {
  const { held = 0, open = 0, blocks = [] } = states[0] as Partial<BudgetState>;
  return { held, open, blocked: blocks.map(({ strikes, untilMs }) => [strikes, untilMs]) };
}

/** Where it stands, as its name says. */
function standingOf(record: StoredRecord) {
  const { name, limits } = record;
  const used = limits.map((_, at) => (isSlots(record, at) || name.includes('alone') ? 0 : 3));
  if (name.includes('block'))
    return {
      used,
      held: 0,
      open: 0,
      blocked: [
        [0, (start + 600) * 1_000],
        [1, 0],
      ],
    };
  if (name.includes('fewer than none')) return { used, held: 0, open: 1, blocked: [] };
  const open = !/reserv|slots/.test(name) ? 0 : name.startsWith('a list') ? 2 : 1;
  return { used, held: open === 0 ? 0 : open + 1, open, blocked: [] };
}

describe('a counter that 1.0.0-rc.1 has written', () => {
  it.each(records.map((record) => [record.name, record] as const))(
    'of %s is read: what it has counted and holds is kept, and written anew',
    async (_name, record) => {
      const limiter = limiterOf(record);
      const { ask } = await restore(record);
      const found = await ask(0);
      expect(found.failures).toBeUndefined();
      expect(found.mended).toBe(record.name.includes('fewer than none') ? 1 : 0);
      expect({ used: usedOf(found, limiter), ...openOf(found) }).toEqual(standingOf(record));
      if (record.name.includes('block')) return;
      // What is charged from now on is written as this build does.
      const { used, open, held } = standingOf(record);
      const settled = open === 0 ? undefined : await ask(2, { reservation: settle });
      const asked = await ask(2);
      expect([settled?.failures, asked.failures]).toEqual([undefined, undefined]);
      const more = open === 0 ? 2 : 4;
      const after = await ask(0);
      expect({ used: usedOf(after, limiter), ...openOf(after) }).toEqual({
        used: used.map((one, at) => (isSlots(record, at) ? one : one + more)),
        held: Math.max(0, held - 2),
        open: Math.max(0, open - 1),
        blocked: [],
      });
    },
  );
});

it('a small sliding window of a list counts on beside that build, of which each call drops its log', async () => {
  const WEEK = 604_800;
  const week = { unit: 'WEEK', requestsPerUnit: 12, algorithm: 'sliding_window' } as const;
  const limits = [week, { unit: 'YEAR', requestsPerUnit: 1_000 }] as const;
  const rest = `f31536000 2 ${String(start + WEEK)};`;
  const window = (count: number) =>
    `s604800 ${String(Math.floor(start / WEEK))} 0 ${String(count)};`;
  const text = packRecord(window(2) + rest).toString('base64');
  const { ask, key } = await restore({ name: 'a list', limits, more: {}, text });
  for (let round = 0; round < 3; round += 1) {
    expect((await ask(2)).failures).toBeUndefined();
    const [, count = ''] =
      /s604800 \d+ 0 (\d+);/.exec(unpackRecord((await server.client.getBuffer(key)) as Buffer)) ??
      [];
    expect(Number(count)).toBe(4 + 3 * round);
    await server.client.set(key, packRecord(window(Number(count) + 1) + rest));
  }
  const limiter = limiterOfLimits(limits, {});
  expect(usedOf(await ask(0), limiter)[0]).toBe(11);
});
