import {
  isBudgetLimiter,
  type Budget,
  type BudgetEntry,
  type BudgetLimiter,
} from '../../../core/budgets/budget';
import { blockName, oldBlockName } from '../../../core/budgets/record';
import type { Limiter, Reservation } from '../../../core/kinds/kind';
import { encodeKeys, type ScriptIncrement, type OperationsCall } from '../operations-call';
import { encodeAscii, integerOf, type ScriptArguments } from '../script-call';

/** The arguments of the script of budgets: see head.lua. */
export function encodeBudgetCall(call: OperationsCall): ScriptArguments {
  const { increments, groupEnds = [], nowSeconds, isDeclaringKeys, nowMicros } = call;
  const limiters = new LimiterList(nowSeconds);
  const values = new Arguments();
  for (const increment of increments) {
    const { limiter, hits, ttlSeconds, reservation } = increment;
    values.integer(limiters.numberOf(increment));
    if (!limiter.kind.isRecord) values.integer(ttlSeconds);
    if (reservation === undefined) continue;
    values.id(reservation.id);
    values.integer(hits);
  }
  const head = isDeclaringKeys ? '' : integerOf(0);
  const times = new Arguments();
  times.ascii(nowMicros === undefined ? '' : String(nowMicros));
  times.integer(Math.round(nowSeconds * 1_000));
  const ends = new Arguments();
  ends.integer(groupEnds.length);
  for (const end of groupEnds) ends.integer(end);
  const parts = [times, ...limiters.parts(), ends, values];
  const { length } = increments;
  const count = parts.reduce((sum, part) => sum + part.count, length + (head === '' ? 1 : 2));
  const keys = encodeKeys(increments.map(({ key }) => key));
  const text = `${head}${integerOf(length).slice(0, -2)}${keys}\r\n`;
  return { count, text: text + parts.map((part) => part.encoded).join('') };
}

class Arguments {
  count = 0;
  encoded = '';

  integer(value: number | bigint): void {
    this.count += 1;
    this.encoded += integerOf(value);
  }

  ascii(text: string): void {
    this.count += 1;
    this.encoded += encodeAscii(text);
  }

  text(text: string): void {
    this.count += 1;
    this.encoded += `$${String(Buffer.byteLength(text))}\r\n${text}\r\n`;
  }

  /** The field of an id; empty: there is none. */
  id(id: string): void {
    const bytes = Buffer.byteLength(id);
    this.count += 1;
    this.encoded += bytes === 0 ? NO_ID : `${(idHeads[bytes] ??= idHeadOf(bytes))}${id}\r\n`;
  }
}

const NO_ID = encodeAscii('');
/** The RESP head of an id, by its length in bytes. */
const idHeads: string[] = [];

function idHeadOf(bytes: number): string {
  return `$${String(bytes + 1)}\r\n=`;
}

/** The limiters of a call, and the charges to their counters: nearly all of a batch share few of them. */
class LimiterList {
  readonly #known = new Map<Limiter, KnownLimiter>();
  readonly #nowSeconds: number;
  readonly #limiters = new Arguments();
  readonly #orders = new Arguments();
  #limiterCount = 0;
  #orderCount = 0;

  constructor(nowSeconds: number) {
    this.#nowSeconds = Math.floor(nowSeconds);
  }

  parts(): readonly Arguments[] {
    const [limiters, orders] = [new Arguments(), new Arguments()];
    limiters.integer(this.#limiterCount);
    orders.integer(this.#orderCount);
    return [limiters, this.#limiters, orders, this.#orders];
  }

  numberOf(increment: ScriptIncrement): number {
    const { limiter } = increment;
    const known = this.#known.get(limiter) ?? this.#addLimiter(limiter);
    const name = nameOf(increment);
    const number = known.orders.get(name);
    if (number !== undefined) return number;
    this.#addOrder(increment, known.number);
    known.orders.set(name, this.#orderCount);
    return this.#orderCount;
  }

  #addLimiter(limiter: Limiter): KnownLimiter {
    const isBudget = isBudgetLimiter(limiter);
    const known = { number: isBudget ? (this.#limiterCount += 1) : 0, orders: new Map() };
    this.#known.set(limiter, known);
    if (isBudget) encodeLimiter(this.#limiters, limiter, this.#nowSeconds);
    return known;
  }

  #addOrder(increment: ScriptIncrement, limiterNumber: number): void {
    const { limiter, hits, times, reservation, holdsBack, undoOfMicros = 0 } = increment;
    const orders = this.#orders;
    this.#orderCount += 1;
    orders.ascii(limiter.kind.letter);
    orders.integer(holdsBack === false ? 0 : 1);
    orders.integer(reservation === undefined ? hits : 0);
    orders.integer(times);
    orders.integer(undoOfMicros);
    if (isBudgetLimiter(limiter)) {
      orders.integer(limiterNumber);
      orders.ascii(modeOf(reservation));
      return;
    }
    orders.integer(limiter.chargeDenied ? 1 : 0);
    for (const figure of [limiter.drain, limiter.size, limiter.periodTicks, limiter.tickMicros])
      orders.integer(figure);
  }
}

interface KnownLimiter {
  /** The number of a budget, from 1. */
  readonly number: number;
  /** The numbers of orders, by their content. */
  readonly orders: Map<number | string, number>;
}

/** The identity of an order among those of one limiter. */
function nameOf(increment: ScriptIncrement): number | string {
  const { hits, times, reservation, holdsBack, undoOfMicros } = increment;
  if (undoOfMicros !== undefined) return `${String(hits)} undo ${String(undoOfMicros)}`;
  if (holdsBack !== false) {
    if (reservation !== undefined) return modeOf(reservation);
    if (times === 1 && typeof hits === 'number') return hits;
  }
  const what = reservation === undefined ? String(hits) : modeOf(reservation);
  return `${what} ${String(times)} ${String(holdsBack)}`;
}

const MODE_LETTERS = { reserve: 'r', settle: 's', cancel: 'c', read: 'l' } as const;

/** The mode of an operation on a budget, in one letter; `h` settles with the reserved hits. */
function modeOf(reservation: Reservation | undefined): string {
  if (reservation === undefined) return 'a';
  const { mode, saysHits } = reservation;
  return mode === 'settle' && !saysHits ? 'h' : MODE_LETTERS[mode];
}

function encodeLimiter(args: Arguments, { budget }: BudgetLimiter, nowSeconds: number): void {
  const { reserve, entries, blocks } = budget;
  args.ascii(flagsOf(budget));
  args.integer(reserve?.leaseMs ?? 0);
  args.integer(entries.length);
  for (const entry of entries) encodeEntry(args, entry, nowSeconds);
  args.integer(blocks.length);
  for (const terms of blocks) {
    const { entry, after, withinMs, forMs, upToMs } = terms;
    args.text(blockName({ entries }, terms));
    args.ascii(oldBlockName(terms));
    for (const figure of [after, withinMs, forMs, upToMs, entry + 1]) args.integer(figure);
  }
}

/** See `readLimiter` of arguments.lua. */
function flagsOf({ reserve, isForced, isShadow }: Budget): string {
  const ofReserve = reserve === undefined ? '' : reserve.isReleased ? 'rl' : 'r';
  return ofReserve + (isForced ? 'f' : '') + (isShadow ? 's' : '');
}

function encodeEntry(args: Arguments, entry: BudgetEntry, nowSeconds: number): void {
  const { limiter, id, windowAt, isResting, longestSeconds } = entry;
  args.text(id);
  args.ascii(limiter.kind.letter);
  args.integer(limiter.size);
  args.integer((limiter.chargeDenied ? 1 : 0) + (isResting ? 2 : 0));
  if (entry.isSlots) return;
  for (const figure of [limiter.drain, limiter.periodTicks, limiter.tickMicros])
    args.integer(figure);
  if (windowAt === undefined) return;
  const { startSeconds, endSeconds } = windowAt(nowSeconds);
  args.integer(startSeconds);
  args.integer(endSeconds);
  args.integer(longestSeconds);
}
