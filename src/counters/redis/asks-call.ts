import type { CounterState, Gate, State } from '../../core/kinds/kind';
import { type Increment } from '../../core/ports';
import { isCount } from '../count';
import { PackError } from './message-pack';
import { encodeAscii, headOf, integerOf, type ScriptArguments } from './script-call';

/** The asks of one batch for one counter; of a kind that does not look only in a run with others. */
export type AskedIncrement = Pick<
  Increment,
  'key' | 'hits' | 'times' | 'ttlSeconds' | 'gate' | 'reservation' | 'holdsBack'
>;

/** What becomes of a call; the lists run parallel to its increments. */
export interface AsksReply {
  /** Where each counter stood before its asks; undefined for a failure, and where `after` says the count. */
  readonly states: readonly (State | undefined)[];
  /** The count after the asks, of a fixed window that charges what it refuses; it stands as it was for one held back. */
  readonly after: readonly number[];
  readonly held: readonly boolean[] | undefined;
  /** What the server said of a key. */
  readonly failures: ReadonlyMap<number, string> | undefined;
}

export interface AsksCall {
  readonly increments: readonly AskedIncrement[];
  /** See CounterBatch; each request's run is then decided together. */
  readonly groupEnds: readonly number[] | undefined;
  /** By this process, Unix seconds: windows begin and end by it. */
  readonly nowSeconds: number;
  readonly isDeclaringKeys: boolean;
  /** Microseconds in place of the server's clock, for tests. */
  readonly nowMicros?: number;
}

/** The arguments that `kindsScript` reads. */
export function encodeAsksCall(call: AsksCall): ScriptArguments {
  const { increments, groupEnds, isDeclaringKeys, nowMicros } = call;
  const { length } = increments;
  const orders = new OrderSheet();
  let places = '';
  let count = length * 2 + (isDeclaringKeys ? 3 : 4) + (groupEnds?.length ?? 0);
  for (const increment of increments) {
    places += integerOf(orders.numberOf(increment));
    if (increment.gate.kind.hasOwnForm) continue;
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

/** How a key counts, and what is asked of it. Nearly all keys of a batch share few of them. */
class OrderSheet {
  text = '';
  count = 0;
  #last: AskedIncrement | undefined;
  /** The orders of one hit, by gate. */
  readonly #singles = new Map<Gate, number>();

  numberOf(increment: AskedIncrement): number {
    const { gate, hits, times } = increment;
    if (hits !== 1 || times !== 1) return this.#numberOfOther(increment);
    const known = this.#singles.get(gate);
    if (known !== undefined) return known;
    this.#singles.set(gate, this.count + 1);
    return this.#add(increment);
  }

  #numberOfOther(increment: AskedIncrement): number {
    const last = this.#last;
    const isSame =
      last?.gate === increment.gate &&
      last.hits === increment.hits &&
      last.times === increment.times;
    return isSame ? this.count : this.#add(increment);
  }

  #add(increment: AskedIncrement): number {
    const { gate, hits, times } = increment;
    this.#last = increment;
    this.count += 1;
    this.text += encodeAscii(gate.kind.letter) + integerOf(gate.limit) + integerOf(gate.size);
    this.text += integerOf(gate.periodTicks) + integerOf(gate.tickMicros);
    this.text += integerOf(gate.chargeDenied ? 1 : 0) + integerOf(hits) + integerOf(times);
    return this.count;
  }
}

/**
 * The keys, each after the end of the line before it. Nearly all have one byte for each character: asking each for its
 * bytes costs as much as all the rest.
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

/** Reads the answer of the script, unpacked; throws a PackError where it says anything else. */
export function readAsksAnswer(answer: unknown, increments: readonly AskedIncrement[]): AsksReply {
  const [counters, places] = readList(answer);
  return readAsks(counters, places, increments, readCounterState);
}

/** Where a counter stands of an increment whose kind looks. */
type ReadState = (reader: NumberReader, gate: Gate) => State;

export function readAsks(
  counters: unknown,
  places: unknown,
  increments: readonly AskedIncrement[],
  readState: ReadState,
): AsksReply {
  const reader: NumberReader = { list: readList(counters), at: 0 };
  const states: (State | undefined)[] = [];
  const after: number[] = [];
  let failures: Map<number, string> | undefined;
  for (const { gate } of increments) {
    const value = reader.list[reader.at];
    if (typeof value === 'string' || Buffer.isBuffer(value)) {
      reader.at += 1;
      (failures ??= new Map()).set(after.length, String(value));
      states.push(undefined);
      after.push(0);
    } else {
      states.push(gate.kind.looks ? readState(reader, gate) : undefined);
      after.push(gate.kind.looks ? 0 : readCount(reader));
    }
  }
  if (reader.at !== reader.list.length)
    throw new PackError(
      `${String(reader.list.length)} numbers in the script's reply do not match its keys`,
    );
  return { states, after, held: readHeld(places, increments.length), failures };
}

export interface NumberReader {
  readonly list: readonly unknown[];
  at: number;
}

export function readCounterState(reader: NumberReader, { kind }: Gate): CounterState {
  const used = readCount(reader);
  if (!kind.hasOwnForm) return { used, previous: 0, elapsed: 0 };
  const previous = kind.lua?.has.previous === true ? readCount(reader) : 0;
  const elapsed = reader.list[reader.at];
  if (!Number.isSafeInteger(elapsed)) throw toOddItem(reader, 'a number of ticks');
  reader.at += 1;
  return { used, previous, elapsed: elapsed as number };
}

export function readCount(reader: NumberReader): number {
  const count = reader.list[reader.at];
  if (!isCount(count)) throw toOddItem(reader, 'a count from 0 to 2^63 - 1');
  reader.at += 1;
  return count;
}

/** Which increments were held back; their places count from 1. */
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

export function toOddItem({ list, at }: NumberReader, expected: string): PackError {
  const found = typeof list[at] === 'number' ? String(list[at]) : typeof list[at];
  return new PackError(`unexpected ${found} in the script's reply, expected ${expected}`);
}
