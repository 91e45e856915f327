import { settled, StoreError } from '../../core/errors';
import { isBudgetLimiter, type BudgetLimiter } from '../../core/budgets/budget';
import { partAt } from '../../core/budgets/record';
import { standingOf, usedOfNearest, withUsed } from '../../core/budgets/stored';
import { isRecord, lifetimeMs, unused, usedHits } from '../../core/kinds/limiter';
import type { BudgetState, CounterState, Limiter, State } from '../../core/kinds/kind';
import { tickAt } from '../../core/kinds/ticks';
import { type CounterReading, type CounterWriter, type Increment } from '../../core/ports';
import { hasReservations } from '../../core/rules/compile-budget';
import { toKeyError } from '../count';
import { placeOfLimit } from '../../core/rules/rules';
import { PUT_PART, READ_LOG, RESET_RECORD, SET_LOG } from './lua/scripts';
import { readBudget, redisKindOf, type BudgetReading } from './open-reservations';
import { type RedisCounters } from './options';

type CommandSender = Pick<RedisCounters, 'send'>;

/** A name with a space, its part, milliseconds to live, and the expiry since 1970. */
type Part = readonly [head: string, part: string, lifeMs: number, endMs: number];

/** Deletes and sets counters, with a command or two for each. */
export function createRedisWriter(counters: CommandSender): CounterWriter {
  const removeOne = async ({ key, limiter }: Increment, withOpen: boolean): Promise<void> => {
    if (!hasReservations(limiter)) await counters.send(key, [['del', key]]);
    else if (!withOpen) await counters.send(key, [['eval', RESET_RECORD, '1', key, 'hash']]);
    // There may be a hundred thousand open reservations, whose fields another thread of the server frees.
    else
      await counters.send(key, [['unlink', key]]).catch(() => counters.send(key, [['del', key]]));
  };
  const setOne = async (increment: Increment, used: number): Promise<void> => {
    const { key, rule } = increment;
    const { limiter } = rule;
    if (isBudgetLimiter(limiter)) {
      const { value, lifeMs, endMs } = await writtenNow(counters, key, limiter, used);
      await put(key, limiter, ['', value, lifeMs, endMs]);
      return;
    }
    const { value, lifeMs } = isRecord(limiter)
      ? await writtenNow(counters, key, limiter, used)
      : { value: String(used), lifeMs: await lifeOf(counters, increment) };
    const isLog = limiter.kind.lua?.isLog === true;
    await counters.send(key, [
      isLog
        ? ['eval', SET_LOG, '1', key, value, String(lifeMs)]
        : ['psetex', key, String(lifeMs), value],
    ]);
  };
  const setPart = async (key: string, limiter: BudgetLimiter, at: number, used: number) => {
    const nowSeconds = await clockOf(counters, key);
    const nothing = unused(limiter, tickAt(nowSeconds, limiter.tickMicros));
    const state = withUsed(limiter.budget, nothing, at, used);
    const head = `${limiter.budget.entries[at]?.id ?? ''} `;
    const lifeMs = lifetimeMs(limiter, state);
    const part = partAt(limiter.budget, state, at);
    await put(key, limiter, [head, part, lifeMs, endOf(nowSeconds, lifeMs)]);
  };
  const put = async (key: string, limiter: Limiter, [head, part, lifeMs, endMs]: Part) => {
    const args = [redisKindOf(limiter), head, part, String(endMs), String(lifeMs)];
    await counters.send(key, [['eval', PUT_PART, '1', key, ...args]]);
  };
  return {
    remove: (all, { withOpen } = { withOpen: false }) =>
      settleEach(all, (one) => removeOne(one, withOpen)),
    set: (all, used, _, limit) =>
      settleEach(all, (one) => {
        const at = placeOfLimit(one.rule, limit);
        return at === undefined || !isBudgetLimiter(one.limiter)
          ? setOne(one, used)
          : setPart(one.key, one.limiter, at, used);
      }),
  };
}

/** The current reading of a record. */
export async function readRecordOf(
  counters: CommandSender,
  key: string,
  limiter: Limiter<CounterState>,
): Promise<Omit<CounterReading, 'store'>> {
  const read = isBudgetLimiter(limiter)
    ? await readBudget(counters, key, limiter, 1)
    : await (limiter.kind.lua?.isLog === true ? readLog : readText)(counters, key);
  const { record, lifeMs, nowSeconds, open = [] } = read;
  const state = stateOf(limiter, read);
  if (state === undefined)
    throw toKeyError(`the value of this key was not written by ${limiter.kind.words.name}`);
  const expiresInSeconds =
    record === undefined ? undefined : Math.max(0, Math.ceil(lifeMs / 1_000));
  const count = isBudgetLimiter(limiter)
    ? usedOfNearest(limiter.budget, state as BudgetState)
    : usedHits(limiter, state as CounterState);
  const [first] = open;
  const firstEndMs = first && Math.floor(nowSeconds * 1_000) + first.endsInMs;
  return { count, state, expiresInSeconds, firstEndMs };
}

/** Undefined: another kind wrote it. */
function stateOf(limiter: Limiter<CounterState>, read: Read): State | undefined {
  const { record, nowSeconds, sums, lapses = [] } = read;
  if (isBudgetLimiter(limiter)) {
    const moment = { micros: Math.round(nowSeconds * 1_000_000), nowSeconds };
    return standingOf(limiter.budget, { record, lapses, ...sums }, moment);
  }
  const tick = tickAt(nowSeconds, limiter.tickMicros);
  return record === undefined ? unused(limiter, tick) : limiter.kind.decode(limiter, record, tick);
}

async function readLog(counters: CommandSender, key: string): Promise<Read> {
  const [answer] = await counters.send(key, [['eval', READ_LOG, '1', key]]);
  return toRead(Array.isArray(answer) ? answer : []);
}

async function readText(counters: CommandSender, key: string): Promise<Read> {
  return toRead(await counters.send(key, [['get', key], ['pttl', key], ['time']]));
}

function toRead([value, lifeMs, time]: readonly unknown[]): Read {
  const record = typeof value === 'string' ? value : undefined;
  return { record, lifeMs: Number(lifeMs), nowSeconds: toSeconds(time) };
}

type Read = Pick<BudgetReading, 'record' | 'lifeMs' | 'nowSeconds'> & Partial<BudgetReading>;

async function writtenNow(counters: CommandSender, key: string, limiter: Limiter, used: number) {
  const nowSeconds = await clockOf(counters, key);
  const tick = tickAt(nowSeconds, limiter.tickMicros);
  const state = limiter.kind.ofHits(limiter, used, tick);
  const lifeMs = lifetimeMs(limiter, state);
  return {
    value: limiter.kind.encode(limiter, state, tick),
    lifeMs,
    endMs: endOf(nowSeconds, lifeMs),
  };
}

function endOf(nowSeconds: number, lifeMs: number): number {
  return Math.floor(nowSeconds * 1_000) + lifeMs;
}

async function clockOf(counters: CommandSender, key: string): Promise<number> {
  const [time] = await counters.send(key, [['time']]);
  return toSeconds(time);
}

/** The answer of TIME: seconds and microseconds. */
function toSeconds(time: unknown): number {
  const [seconds, micros] = Array.isArray(time) ? time.map(Number) : [];
  return (seconds ?? NaN) + (micros ?? NaN) / 1_000_000;
}

/** Milliseconds for which a counter still lives; a missing one gets those of a new one. */
async function lifeOf(counters: CommandSender, { key, ttlSeconds }: Increment): Promise<number> {
  const [lifeMs] = await counters.send(key, [['pttl', key]]);
  return Number(lifeMs) > 0 ? Number(lifeMs) : ttlSeconds * 1_000;
}

async function settleEach(
  all: readonly Increment[],
  act: (one: Increment) => Promise<void>,
): Promise<readonly (StoreError | undefined)[]> {
  return Promise.all(
    all.map(async (one) => {
      const done = await settled(() => act(one));
      return done instanceof StoreError ? done : undefined;
    }),
  );
}
