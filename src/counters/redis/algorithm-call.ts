import { type Algorithm, type AlgorithmName } from '../../core/algorithms/algorithm';
import { type CounterState } from '../../core/algorithms/counter-state';
import { type Increment } from '../../core/ports';
import { isCount } from '../count';
import { PackError } from './message-pack';
import { encodeAscii, headOf, integerOf, type ScriptArguments } from './script-call';

/** The asks of one batch for one counter; without an algorithm only in a run with others. */
export type AlgorithmIncrement = Pick<
  Increment,
  'key' | 'hits' | 'times' | 'limit' | 'ttlSeconds' | 'algorithm'
>;

/** What becomes of a call; the lists run parallel to its increments. */
export interface AlgorithmReply {
  /** Where each counter stood before its asks; undefined for a failure, and where `after` says the count. */
  readonly states: readonly (CounterState | undefined)[];
  /** The count after the asks, of a fixed window that charges what it refuses; it stands as it was for one held back. */
  readonly after: readonly number[];
  readonly held: readonly boolean[] | undefined;
  /** What the server said of a key. */
  readonly failures: ReadonlyMap<number, string> | undefined;
}

export interface AlgorithmCall {
  readonly increments: readonly AlgorithmIncrement[];
  /** See CounterBatch; each request's run is then decided together. */
  readonly groupEnds: readonly number[] | undefined;
  readonly isDeclaringKeys: boolean;
  /** Microseconds in place of the server's clock, for tests. */
  readonly nowMicros?: number;
}

const KINDS: Readonly<Record<AlgorithmName, string>> = {
  gcra: encodeAscii('g'),
  sliding_window: encodeAscii('s'),
  fixed_window: encodeAscii('f'),
};
const PLAIN = encodeAscii('p');

/** The arguments that `algorithmScript` reads. */
export function encodeAlgorithmCall(call: AlgorithmCall): ScriptArguments {
  const { increments, groupEnds, isDeclaringKeys, nowMicros } = call;
  const { length } = increments;
  const orders = new OrderSheet();
  let places = '';
  let count = length * 2 + (isDeclaringKeys ? 3 : 4) + (groupEnds?.length ?? 0);
  for (const increment of increments) {
    places += integerOf(orders.numberOf(increment));
    if (!isCounted(increment.algorithm)) continue;
    places += integerOf(increment.ttlSeconds);
    count += 1;
  }
  let text = isDeclaringKeys ? '' : integerOf(0);
  text += integerOf(length).slice(0, -2) + encodeKeys(increments) + '\r\n';
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
  #last: AlgorithmIncrement | undefined;
  /** The orders of one hit, by algorithm. */
  readonly #singles = new Map<Algorithm, number>();

  numberOf(increment: AlgorithmIncrement): number {
    const { algorithm, hits, times = 1 } = increment;
    if (algorithm === undefined || hits !== 1 || times !== 1) return this.#numberOfOther(increment);
    const known = this.#singles.get(algorithm);
    if (known !== undefined) return known;
    this.#singles.set(algorithm, this.count + 1);
    return this.#add(increment);
  }

  #numberOfOther(increment: AlgorithmIncrement): number {
    const last = this.#last;
    const isSame =
      last !== undefined &&
      last.algorithm === increment.algorithm &&
      last.limit === increment.limit &&
      last.hits === increment.hits &&
      (last.times ?? 1) === (increment.times ?? 1);
    return isSame ? this.count : this.#add(increment);
  }

  #add(increment: AlgorithmIncrement): number {
    const { algorithm, hits, times = 1, limit } = increment;
    this.#last = increment;
    this.count += 1;
    if (algorithm === undefined) {
      const ticks = integerOf(1) + integerOf(1_000_000) + integerOf(1);
      this.text += PLAIN + integerOf(limit) + integerOf(limit) + ticks;
    } else {
      const { name, size, periodTicks, tickMicros, chargeDenied } = algorithm;
      this.text += KINDS[name] + integerOf(algorithm.limit) + integerOf(size);
      this.text += integerOf(periodTicks) + integerOf(tickMicros) + integerOf(chargeDenied ? 1 : 0);
    }
    this.text += integerOf(hits) + integerOf(times);
    return this.count;
  }
}

function isCounted(algorithm: Algorithm | undefined): boolean {
  return algorithm === undefined || algorithm.name === 'fixed_window';
}

/**
 * The keys, each after the end of the line before it. Nearly all have one byte for each character: asking each for its
 * bytes costs as much as all the rest.
 */
function encodeKeys(increments: readonly AlgorithmIncrement[]): string {
  const text = encodeKeysWith(increments, ({ length }) => length);
  if (Buffer.byteLength(text) === text.length) return text;
  return encodeKeysWith(increments, (key) => Buffer.byteLength(key));
}

function encodeKeysWith(
  increments: readonly AlgorithmIncrement[],
  bytesOf: (key: string) => number,
): string {
  let text = '';
  for (const { key } of increments) text += headOf(bytesOf(key)) + key;
  return text;
}

/** Reads the answer of the script, unpacked; throws a PackError where it says anything else. */
export function readAlgorithmAnswer(
  answer: unknown,
  increments: readonly AlgorithmIncrement[],
): AlgorithmReply {
  const [counters, places] = readList(answer);
  const reader: Reader = { list: readList(counters), at: 0 };
  const states: (CounterState | undefined)[] = [];
  const after: number[] = [];
  let failures: Map<number, string> | undefined;
  for (const { algorithm } of increments) {
    const value = reader.list[reader.at];
    if (typeof value === 'string' || Buffer.isBuffer(value)) {
      reader.at += 1;
      (failures ??= new Map()).set(after.length, String(value));
      states.push(undefined);
      after.push(0);
    } else {
      states.push(algorithm && readCounterState(reader, algorithm));
      after.push(algorithm === undefined ? readCount(reader) : 0);
    }
  }
  if (reader.at !== reader.list.length)
    throw new PackError(
      `${String(reader.list.length)} numbers in the script's reply are not those of its keys`,
    );
  return { states, after, held: readHeld(places, increments.length), failures };
}

interface Reader {
  readonly list: readonly unknown[];
  at: number;
}

function readCounterState(reader: Reader, { name }: Algorithm): CounterState {
  const used = readCount(reader);
  if (name === 'fixed_window') return { used, previous: 0, elapsed: 0 };
  const previous = name === 'gcra' ? 0 : readCount(reader);
  const elapsed = reader.list[reader.at];
  if (!Number.isSafeInteger(elapsed)) throw toOddItem(reader, 'a number of ticks');
  reader.at += 1;
  return { used, previous, elapsed: elapsed as number };
}

function readCount(reader: Reader): number {
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
        `a script holds back an increment of no place from 1 to ${String(length)}`,
      );
    held[(place as number) - 1] = true;
  }
  return held;
}

function readList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new PackError(`unexpected ${typeof value} in the script's reply, expected a list`);
}

function toOddItem({ list, at }: Reader, expected: string): PackError {
  const found = typeof list[at] === 'number' ? String(list[at]) : typeof list[at];
  return new PackError(`unexpected ${found} in the script's reply, expected ${expected}`);
}
