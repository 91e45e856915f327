import { settled, StoreError } from '../../core/errors';
import { isBudgetGate, type BudgetGate } from '../../core/budgets/budget';
import { partAt } from '../../core/budgets/record';
import { standingOf } from '../../core/budgets/standing';
import { usedOfNearest, withUsed } from '../../core/budgets/used';
import { hasOwnForm, lifetimeMs, unused, usedHits } from '../../core/kinds/gate';
import type { BudgetState, CounterState, Gate, State } from '../../core/kinds/kind';
import { tickAt } from '../../core/kinds/ticks';
import { type CounterReading, type CounterWriter, type Increment } from '../../core/ports';
import { hasReservations } from '../../core/rules/reservation-nodes';
import { toKeyError } from '../count';
import { placeOf } from '../limit-place';
import {
  PUT_PART,
  PUT_RECORD_PART,
  READ_LOG,
  READ_RECORD,
  RESET_RECORD,
  SET_LOG,
} from './budgets/operator-scripts';
import { leaseMsOf, readOpen, type OpenReading } from './open-reservations';
import { type RedisCounters } from './options';

type Asking = Pick<RedisCounters, 'ask'>;

/** A name with a space, its part, milliseconds to live, and the expiry since 1970. */
type Part = readonly [head: string, part: string, lifeMs: number, endMs: number];

/** Deletes and sets counters, with a command or two for each. */
export function createRedisWriter(counters: Asking): CounterWriter {
  const removeOne = async ({ key, gate }: Increment, withOpen: boolean): Promise<void> => {
    if (!hasReservations(gate)) await counters.ask(key, [['del', key]]);
    else if (!withOpen) await counters.ask(key, [['eval', RESET_RECORD, '1', key]]);
    // There may be a hundred thousand open reservations, whose fields another thread of the server frees.
    else await counters.ask(key, [['unlink', key]]).catch(() => counters.ask(key, [['del', key]]));
  };
  const setOne = async (increment: Increment, used: number): Promise<void> => {
    const { key, rule } = increment;
    const { gate } = rule;
    if (isBudgetGate(gate)) {
      const { value, lifeMs, endMs } = await writtenNow(counters, key, gate, used);
      await put(key, gate, ['', value, lifeMs, endMs]);
      return;
    }
    const { value, lifeMs } = hasOwnForm(gate)
      ? await writtenNow(counters, key, gate, used)
      : { value: String(used), lifeMs: await lifeOf(counters, increment) };
    const isLog = gate.kind.lua?.isLog === true;
    await counters.ask(key, [
      isLog
        ? ['eval', SET_LOG, '1', key, value, String(lifeMs)]
        : ['psetex', key, String(lifeMs), value],
    ]);
  };
  const setPart = async (key: string, gate: BudgetGate, at: number, used: number) => {
    const nowSeconds = await clockOf(counters, key);
    const nothing = unused(gate, tickAt(nowSeconds, gate.tickMicros));
    const state = withUsed(gate.budget, nothing, at, used);
    const head = `${gate.budget.entries[at]?.id ?? ''} `;
    const lifeMs = lifetimeMs(gate, state);
    const part = partAt(gate.budget, state, at);
    await put(key, gate, [head, part, lifeMs, endOf(nowSeconds, lifeMs)]);
  };
  const put = async (key: string, gate: Gate, [head, part, lifeMs, endMs]: Part) => {
    const args = hasReservations(gate)
      ? [PUT_PART, '1', key, head, part, String(endMs), String(lifeMs)]
      : [PUT_RECORD_PART, '1', key, head, part, String(lifeMs)];
    await counters.ask(key, [['eval', ...args]]);
  };
  return {
    remove: (all, { withOpen } = { withOpen: false }) =>
      settleEach(all, (one) => removeOne(one, withOpen)),
    set: (all, used, _, limit) =>
      settleEach(all, (one) => {
        const at = placeOf(one.rule, limit);
        return at === undefined || !isBudgetGate(one.gate)
          ? setOne(one, used)
          : setPart(one.key, one.gate, at, used);
      }),
  };
}

/** The current reading of a record. */
export async function readOwnForm(
  counters: Asking,
  key: string,
  gate: Gate<CounterState>,
): Promise<Omit<CounterReading, 'store'>> {
  const read = hasReservations(gate)
    ? await readOpen(counters, key, leaseMsOf(gate), 1)
    : await readerOf(gate)(counters, key);
  const { record, lifeMs, nowSeconds, open = [] } = read;
  const state = stateOf(gate, read);
  if (state === undefined)
    throw toKeyError(`the value of this key was not written by ${gate.kind.words.name}`);
  const expiresInSeconds =
    record === undefined ? undefined : Math.max(0, Math.ceil(lifeMs / 1_000));
  const count = isBudgetGate(gate)
    ? usedOfNearest(gate.budget, state as BudgetState)
    : usedHits(gate, state as CounterState);
  const [first] = open;
  const firstEndMs = first && Math.floor(nowSeconds * 1_000) + first.endsInMs;
  return { count, state, expiresInSeconds, firstEndMs };
}

/** Undefined: another kind wrote it. */
function stateOf(gate: Gate<CounterState>, read: Read): State | undefined {
  const { record, nowSeconds, sums, lapses = [] } = read;
  if (isBudgetGate(gate)) {
    const moment = { micros: Math.round(nowSeconds * 1_000_000), nowSeconds };
    return standingOf(gate.budget, { record, lapses, ...sums }, moment);
  }
  const tick = tickAt(nowSeconds, gate.tickMicros);
  return record === undefined ? unused(gate, tick) : gate.kind.decode(gate, record, tick);
}

/** How a record without reservations is read. */
function readerOf(gate: Gate): (counters: Asking, key: string) => Promise<Read> {
  if (isBudgetGate(gate)) return readRecord;
  return gate.kind.lua?.isLog === true ? readLog : readText;
}

async function readLog(counters: Asking, key: string): Promise<Read> {
  const [answer] = await counters.ask(key, [['eval', READ_LOG, '1', key]]);
  return toRead(Array.isArray(answer) ? answer : []);
}

async function readText(counters: Asking, key: string): Promise<Read> {
  return toRead(await counters.ask(key, [['get', key], ['pttl', key], ['time']]));
}

async function readRecord(counters: Asking, key: string): Promise<Read> {
  const [answer] = await counters.ask(key, [['eval', READ_RECORD, '1', key]]);
  return toRead(Array.isArray(answer) ? answer : []);
}

function toRead([value, lifeMs, time]: readonly unknown[]): Read {
  const record = typeof value === 'string' ? value : undefined;
  return { record, lifeMs: Number(lifeMs), nowSeconds: toSeconds(time) };
}

type Read = Pick<OpenReading, 'record' | 'lifeMs' | 'nowSeconds'> & Partial<OpenReading>;

async function writtenNow(counters: Asking, key: string, gate: Gate, used: number) {
  const nowSeconds = await clockOf(counters, key);
  const tick = tickAt(nowSeconds, gate.tickMicros);
  const state = gate.kind.ofHits(gate, used, tick);
  const lifeMs = lifetimeMs(gate, state);
  return { value: gate.kind.encode(gate, state, tick), lifeMs, endMs: endOf(nowSeconds, lifeMs) };
}

function endOf(nowSeconds: number, lifeMs: number): number {
  return Math.floor(nowSeconds * 1_000) + lifeMs;
}

async function clockOf(counters: Asking, key: string): Promise<number> {
  const [time] = await counters.ask(key, [['time']]);
  return toSeconds(time);
}

/** The answer of TIME: seconds and microseconds. */
function toSeconds(time: unknown): number {
  const [seconds, micros] = Array.isArray(time) ? time.map(Number) : [];
  return (seconds ?? NaN) + (micros ?? NaN) / 1_000_000;
}

/** Milliseconds for which a counter still lives; a missing one gets those of a new one. */
async function lifeOf(counters: Asking, { key, ttlSeconds }: Increment): Promise<number> {
  const [lifeMs] = await counters.ask(key, [['pttl', key]]);
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
