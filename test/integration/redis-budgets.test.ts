import fc from 'fast-check';
import type { BudgetGate } from '../../src/core/budgets/budget';
import type { Reservation } from '../../src/core/kinds/kind';
import type { AskedIncrement } from '../../src/counters/redis/asks-call';
import { encodeBudgetCall, readBudgetAnswer } from '../../src/counters/redis/budgets/budget-call';
import { BUDGET_SCRIPTS } from '../../src/counters/redis/budgets/budget-script';
import { unpack } from '../../src/counters/redis/message-pack';
import { callScript } from '../../src/counters/redis/script-call';
import { budgetGates, budgetSteps, type BudgetStep } from '../support/budget-arbitraries';
import { BudgetCounter } from '../support/budget-counter';
import { unpackRecord } from '../support/packed-record';
import { startRedisServer, type RedisServer } from '../support/redis-server';

const START_MS = 1_700_000_040_000;
const RUNS = { numRuns: 150 };
const SLACK_MS = 15_000;

let server: RedisServer;
let serial = 0;

beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

const freshKey = (): string => `{c:budget_${String((serial += 1))}~1}~c`;

interface CallOptions {
  readonly groupEnds?: readonly number[];
  readonly nowMs?: number | undefined;
  readonly nowSeconds?: number;
  readonly isDeclaringKeys?: boolean;
}

const call = async (increments: readonly AskedIncrement[], options: CallOptions = {}) => {
  const { groupEnds, nowMs, isDeclaringKeys = true } = options;
  const { nowSeconds = (nowMs ?? Date.now()) / 1_000 } = options;
  const now = nowMs === undefined ? {} : { nowMicros: nowMs * 1_000 };
  const args = encodeBudgetCall({ increments, groupEnds, nowSeconds, isDeclaringKeys, ...now });
  const script = BUDGET_SCRIPTS[isDeclaringKeys ? 'declaring' : 'cluster'];
  const answer = await callScript(server.client, script, args, 'eval');
  return readBudgetAnswer(unpack(answer as Buffer), increments);
};

const ask = (
  key: string,
  gate: BudgetGate,
  hits: number,
  more: Partial<AskedIncrement> = {},
): AskedIncrement => ({
  key,
  hits,
  times: 1,
  ttlSeconds: 0,
  gate: gate,
  ...more,
});

/** What a step asks of a rule: asks come several times in a row only where one changes nothing but figures. */
const askOf = (key: string, gate: BudgetGate, step: BudgetStep): AskedIncrement => {
  const { share, mode, id, saysHits } = step;
  const hits = Math.sign(share) * Math.ceil(Math.abs(share) * gate.size) + 0;
  const isTogether = mode === 'ask' && !gate.isAlone && hits > 0;
  const reservation: Reservation | undefined =
    mode === 'ask' ? undefined : { mode, id, saysHits: mode === 'settle' && saysHits };
  const asked = mode === 'ask' ? hits : Math.max(0, hits);
  return ask(key, gate, asked, { times: isTogether ? step.times : 1, reservation });
};

/** A counter at a moment of the clock that the script is told, which was ahead at most so far. */
interface At {
  readonly nowMs: number;
  readonly latestMs: number;
}

/** What Redis holds of the counter is what the model holds of it. */
const expectKept = async (key: string, gate: BudgetGate, counter: BudgetCounter, at: At) => {
  if (gate.budget.reserve !== undefined) return expectOpen(key, gate, counter, at);
  const kept = await server.client.getBuffer(key);
  expect(kept && unpackRecord(kept)).toBe(counter.record ?? null);
  if (counter.record === undefined) return;
  const ms = await server.client.pttl(key);
  const lifeMs = counter.lifeEndMs - counter.writtenMs;
  expect(ms).toBeGreaterThan(lifeMs - SLACK_MS);
  // Windows end by the clock of the process, and are kept for as long as clocks may be apart.
  expect(ms).toBeLessThanOrEqual(lifeMs + 2 * SLACK_MS);
};

/** The fields of a hash; names of eight bytes that are no text are numbers. */
const fieldsOf = async (key: string): Promise<ReadonlyMap<string, Buffer>> => {
  const all = (await server.client.callBuffer('HGETALL', key)) as readonly Buffer[];
  const names = all.filter((_, at) => at % 2 === 0);
  return new Map(
    names.map((name, at) => [
      name.toString(name[0] === 0x3d ? 'utf8' : 'latin1'),
      all[2 * at + 1] as Buffer,
    ]),
  );
};

/** A hash has the record of the limits, and what is open: two fields for each, and their sum. */
const expectOpen = async (key: string, gate: BudgetGate, counter: BudgetCounter, at: At) => {
  const fields = await fieldsOf(key);
  const sums = fields.get('s') ?? Buffer.alloc(25);
  const runs = sums[0] ?? 0;
  expect(unpackRecord(sums.subarray(25 + 32 * runs))).toBe(counter.record ?? '');
  expect(fields.size).toBe(2 * counter.open.size + (fields.has('s') ? 1 : 0));
  for (const [id, one] of counter.open) expectOne(fields, id, one);
  const [endMs = 0, held, open] = [1, 9, 17].map((from) => sums.readDoubleLE(from));
  expect([held, open]).toEqual([counter.held, counter.open.size]);
  expect(runs > 0).toBe(counter.open.size > 0);
  if (fields.size > 0) await expectEnd(endMs, key, { gate, counter, at });
};

type OpenOne = ReturnType<BudgetCounter['open']['get']> & object;

const expectOne = (
  fields: ReadonlyMap<string, Buffer>,
  id: string,
  { hits, endMs, isMet }: OpenOne,
): void => {
  const own = fields.get(`=${id}`) as Buffer;
  expect([own.readDoubleLE(0), own[16]]).toEqual([hits, isMet ? 1 : 0]);
  const numbered = fields.get(own.toString('latin1', 8, 16)) as Buffer;
  expect([numbered.readDoubleLE(0), numbered.readDoubleLE(8)]).toEqual([endMs, hits]);
  expect(numbered.toString('utf8', 16)).toBe(`=${id}`);
};

interface Standing {
  readonly gate: BudgetGate;
  readonly counter: BudgetCounter;
  readonly at: At;
}

const expectEnd = async (endMs: number, key: string, { gate, counter, at }: Standing) => {
  const neededMs = Math.max(counter.lifeEndMs, counter.open.size > 0 ? counter.openEndMs : 0);
  expect(endMs).toBeGreaterThan(neededMs - SLACK_MS);
  // Some more, so that few asks move it; leases may end in another window than that of now.
  const longestMs = 2_200 * Math.max(...gate.budget.entries.map((one) => one.periodSeconds));
  const mostMs =
    Math.max(neededMs, counter.askedEndMs, at.nowMs) + longestMs + 600_000 + 2 * SLACK_MS;
  counter.latestEndMs = Math.max(counter.latestEndMs, mostMs);
  expect(endMs).toBeLessThanOrEqual(counter.latestEndMs);
  // It is given to the key whenever it moves; time stands still for the server.
  expect(await server.client.pttl(key)).toBeGreaterThan(endMs - at.latestMs - SLACK_MS);
};

describe.each([true, false])('the script of budgets, declaring keys: %s', (isDeclaringKeys) => {
  it.each([true, false])(
    'counts as TypeScript does, step by step; reserving: %s',
    async (isReserving) => {
      await fc.assert(
        fc.asyncProperty(
          fc.tuple(budgetGates(isReserving), budgetGates(isReserving)),
          budgetSteps(isReserving),
          async (gates, steps) => {
            const key = freshKey();
            const counter = new BudgetCounter();
            let nowMs = START_MS;
            let latestMs = nowMs;
            for (const step of steps) {
              nowMs += step.pauseMs;
              latestMs = Math.max(latestMs, nowMs);
              const gate = gates[step.rule] as BudgetGate;
              const increment = askOf(key, gate, step);
              const nowSeconds = Math.floor(nowMs / 1_000) + step.aheadSeconds;
              const { states, failures } = await call([increment], {
                nowMs,
                nowSeconds,
                isDeclaringKeys,
              });
              expect(failures).toBeUndefined();
              const asked = { ...increment, gate, windowEndSeconds: 0 };
              const moment = { micros: nowMs * 1_000, nowSeconds };
              expect(states[0]).toEqual(counter.apply(asked, moment));
              await expectKept(key, gate, counter, { nowMs, latestMs });
            }
          },
        ),
        RUNS,
      );
    },
  );
});
