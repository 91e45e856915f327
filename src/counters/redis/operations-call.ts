import type { CounterState, Limiter, State } from '../../core/kinds/kind';
import { type Increment } from '../../core/ports';
import { isCount } from '../count';
import { PackError } from './message-pack';
import { NO_INTEGER } from './store-errors';
import { encodeAscii, headOf, integerOf, type ScriptArguments } from './script-call';

/** An increment for a script; one of a kind that does not read first only in a run with others. */
export type ScriptIncrement = Pick<
  Increment,
  'key' | 'hits' | 'times' | 'ttlSeconds' | 'limiter' | 'reservation' | 'holdsBack' | 'undoOfMicros'
>;

/** The reply to a call; the lists run parallel to its increments. */
export interface OperationsReply {
  /** Each counter before its charges; undefined for a failure, and where `after` has the count. */
  readonly states: readonly (State | undefined)[];
  /** The count after the charges, for a fixed window that charges refused hits; unchanged for one held back. */
  readonly after: readonly number[];
  readonly held: readonly boolean[] | undefined;
  /** The server's error for a key, or that its figures cannot be read. */
  readonly failures: ReadonlyMap<number, string> | undefined;
  /** The time of the call by the clock of the server. */
  readonly atMicros: number;
  /** Number of counters written by a wrong clock that the call has mended. */
  readonly mended: number;
}

export interface OperationsCall {
  readonly increments: readonly ScriptIncrement[];
  /** See CounterBatch; each request's run is then decided together. */
  readonly groupEnds: readonly number[] | undefined;
  /** By this process, Unix seconds: windows follow it. */
  readonly nowSeconds: number;
  readonly isDeclaringKeys: boolean;
  /** Microseconds in place of the server's clock, for tests. */
  readonly nowMicros?: number;
}

/** The arguments of operations.lua. */
export function encodeOperationsCall(call: OperationsCall): ScriptArguments {
  const { increments, groupEnds, isDeclaringKeys, nowMicros } = call;
  const { length } = increments;
  const orders = new OrderList();
  let places = '';
  let count = length * 2 + (isDeclaringKeys ? 3 : 4) + (groupEnds?.length ?? 0);
  for (const increment of increments) {
    places += integerOf(orders.numberOf(increment));
    if (increment.limiter.kind.isRecord) continue;
    places += integerOf(increment.ttlSeconds);
    count += 1;
  }
  let text = isDeclaringKeys ? '' : integerOf(0);
  text += integerOf(length).slice(0, -2) + encodeKeys(increments.map(({ key }) => key)) + '\r\n';
  text += encodeAscii(nowMicros === undefined ? '' : String(nowMicros));
  text += integerOf(orders.count) + orders.text + places;
  for (const end of groupEnds ?? []) text += integerOf(end);
  return { count: count + orders.count * FIELDS_OF_ORDER, text };
}

const FIELDS_OF_ORDER = 8;

/** The orders of a call: how keys count, and their charges. Nearly all keys of a batch share few of them. */
class OrderList {
  text = '';
  count = 0;
  #last: ScriptIncrement | undefined;
  /** The orders of one hit, by limiter. */
  readonly #singles = new Map<Limiter, number>();

  numberOf(increment: ScriptIncrement): number {
    const { limiter, hits, times } = increment;
    if (hits !== 1 || times !== 1) return this.#numberOfOther(increment);
    const known = this.#singles.get(limiter);
    if (known !== undefined) return known;
    this.#singles.set(limiter, this.count + 1);
    return this.#add(increment);
  }

  #numberOfOther(increment: ScriptIncrement): number {
    const last = this.#last;
    const isSame =
      last?.limiter === increment.limiter &&
      last.hits === increment.hits &&
      last.times === increment.times;
    return isSame ? this.count : this.#add(increment);
  }

  #add(increment: ScriptIncrement): number {
    const { limiter, hits, times } = increment;
    this.#last = increment;
    this.count += 1;
    this.text +=
      encodeAscii(limiter.kind.letter) + integerOf(limiter.drain) + integerOf(limiter.size);
    this.text += integerOf(limiter.periodTicks) + integerOf(limiter.tickMicros);
    this.text += integerOf(limiter.chargeDenied ? 1 : 0) + integerOf(hits) + integerOf(times);
    return this.count;
  }
}

/**
 * The keys, each preceded by the end of the previous line. Nearly all have one byte per character: computing each one's byte length
 * costs as much as all the rest.
 */
export function encodeKeys(keys: readonly string[]): string {
  const text = encodeKeysWith(keys, ({ length }) => length);
  if (Buffer.byteLength(text) === text.length) return text;
  return encodeKeysWith(keys, (key) => Buffer.byteLength(key));
}

function encodeKeysWith(keys: readonly string[], bytesOf: (key: string) => number): string {
  let text = '';
  for (const key of keys) text += headOf(bytesOf(key)) + key;
  return text;
}

/** Reads the unpacked answer of the script; throws a PackError where it has another form. */
export function readOperationsAnswer(
  answer: unknown,
  increments: readonly ScriptIncrement[],
): OperationsReply {
  return readOperations(answer, increments, readCounterState);
}

/** Reads the state of a counter whose kind reads first, at the time of the call in microseconds. */
type ReadState = (reader: NumberReader, limiter: Limiter, atMicros: number) => State;

export function readOperations(
  answer: unknown,
  increments: readonly ScriptIncrement[],
  readState: ReadState,
): OperationsReply {
  const [counters, places, time, mended] = readList(answer);
  const atMicros = microsOf(time);
  const reader: NumberReader = { list: readList(counters), at: 0, odd: undefined };
  const states: (State | undefined)[] = [];
  const after: number[] = [];
  let failures: Map<number, string> | undefined;
  for (const { limiter } of increments) {
    const value = reader.list[reader.at];
    if (typeof value === 'string' || Buffer.isBuffer(value)) {
      reader.at += 1;
      (failures ??= new Map()).set(after.length, String(value));
      states.push(undefined);
      after.push(0);
    } else {
      const { readsFirst } = limiter.kind;
      states.push(readsFirst ? readState(reader, limiter, atMicros) : undefined);
      after.push(readsFirst ? 0 : readCount(reader));
      const odd = takeOdd(reader);
      if (odd !== undefined) failures = withFailure(failures, states, odd);
    }
  }
  if (reader.at !== reader.list.length)
    throw new PackError(
      `${String(reader.list.length)} numbers in the script's reply do not match its keys`,
    );
  const held = readHeld(places, increments.length);
  return { states, after, held, failures, atMicros, mended: isCount(mended) ? mended : 0 };
}

/** Fails the counter that was read last. */
function withFailure(
  failures: Map<number, string> | undefined,
  states: (State | undefined)[],
  odd: string,
): Map<number, string> {
  const last = states.length - 1;
  states[last] = undefined;
  return (failures ?? new Map<number, string>()).set(last, odd);
}

function microsOf(time: unknown): number {
  const micros = Number(time);
  if (Number.isSafeInteger(micros)) return micros;
  throw new PackError(`unexpected time in the script's reply, expected microseconds`);
}

/** An invalid figure of a counter, if any was found, as its failure. */
function takeOdd(reader: NumberReader): string | undefined {
  const { odd } = reader;
  reader.odd = undefined;
  return odd && `${NO_INTEGER}: ${odd}`;
}

export interface NumberReader {
  readonly list: readonly unknown[];
  at: number;
  /** An invalid figure of the current counter: only that one fails. */
  odd: string | undefined;
}

export function readCounterState(
  reader: NumberReader,
  { kind, tickMicros }: Limiter,
  atMicros: number,
): CounterState {
  const used = readCount(reader);
  if (!kind.isRecord) return { used, previous: 0, elapsed: 0 };
  if (kind.lua?.isLog === true) return readLog(reader, used, tickMicros, atMicros);
  const previous = kind.lua?.hasPrevious === true ? readCount(reader) : 0;
  const elapsed = readFigure(reader, Number.isSafeInteger, 'a number of ticks');
  return { used, previous, elapsed, ages: undefined, atMicros };
}

function readLog(
  reader: NumberReader,
  used: number,
  tickMicros: number,
  atMicros: number,
): CounterState {
  const nowTick = Math.floor(atMicros / tickMicros);
  const ages: number[] = [];
  for (let left = used; left > 0; left -= 1) ages.push(nowTick - readCount(reader));
  return { used, previous: 0, elapsed: 0, ages, atMicros };
}

export function readCount(reader: NumberReader): number {
  return readFigure(reader, isCount, 'a count from 0 to 2^63 - 1');
}

/** Another number reads as 0 and fails its counter; anything else fails the whole reply. */
export function readFigure(
  reader: NumberReader,
  isRight: (figure: unknown) => boolean,
  expected: string,
): number {
  const figure = reader.list[reader.at];
  if (typeof figure !== 'number') throw toOddItem(reader, expected);
  reader.at += 1;
  if (isRight(figure)) return figure;
  reader.odd ??= `found ${String(figure)}, expected ${expected}`;
  return 0;
}

/** Which increments were held back; the answer counts indices from 1. */
function readHeld(answer: unknown, length: number): boolean[] | undefined {
  const places = readList(answer);
  if (places.length === 0) return undefined;
  const held = new Array<boolean>(length).fill(false);
  for (const place of places) {
    if (!Number.isInteger(place) || (place as number) < 1 || (place as number) > length)
      throw new PackError(
        `the script's reply holds back an increment outside of 1 to ${String(length)}`,
      );
    held[(place as number) - 1] = true;
  }
  return held;
}

export function readList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new PackError(`unexpected ${typeof value} in the script's reply, expected a list`);
}

function toOddItem({ list, at }: NumberReader, expected: string): PackError {
  const found = typeof list[at] === 'number' ? String(list[at]) : typeof list[at];
  return new PackError(`unexpected ${found} in the script's reply, expected ${expected}`);
}
