import { Command, type Redis } from 'ioredis';
import { type Increment } from '../../core/ports';
import { type Script } from './lua/scripts';

/** An EVALSHA or EVAL whose arguments are encoded in RESP already: the client's own encoding costs three times as much. */
class ScriptCall extends Command {
  readonly #request: string;

  constructor(name: 'evalsha' | 'eval', request: string) {
    super(name, []);
    this.#request = request;
  }

  override toWritable(): string {
    return this.#request;
  }
}

/** The arguments of a script in RESP, and their number. */
export interface ScriptArguments {
  readonly count: number;
  readonly text: string;
}

/** The number of keys, the keys, hits and time to live of each (and its limit where `groupEnds` are given), and the ends of the runs. */
export function encodeArguments(
  increments: readonly Increment[],
  groupEnds: readonly number[] | undefined,
  isDeclaringKeys: boolean,
): ScriptArguments {
  // Computing the byte length of every key costs as much as all the rest; nearly all have one byte per character.
  const args = encodeWith(({ length }) => length, increments, groupEnds, isDeclaringKeys);
  if (Buffer.byteLength(args.text) === args.text.length) return args;
  return encodeWith((key) => Buffer.byteLength(key), increments, groupEnds, isDeclaringKeys);
}

function encodeWith(
  bytesOf: (key: string) => number,
  increments: readonly Increment[],
  groupEnds: readonly number[] | undefined,
  isDeclaringKeys: boolean,
): ScriptArguments {
  const { length } = increments;
  let text = isDeclaringKeys ? '' : '$1\r\n0\r\n';
  text += `$${String(String(length).length)}\r\n${String(length)}`;
  for (const { key } of increments) text += headOf(bytesOf(key)) + key;
  text += '\r\n';
  let count = length + (isDeclaringKeys ? 1 : 2);
  if (groupEnds === undefined)
    return { count: count + length * 2, text: text + encodeHits(increments) };
  for (const { hits, ttlSeconds, limit } of increments) {
    text += integerOf(hits) + integerOf(ttlSeconds) + integerOf(limit);
  }
  for (const end of groupEnds) text += integerOf(end);
  count += length * 3 + groupEnds.length;
  return { count, text };
}

function encodeHits(increments: readonly Increment[]): string {
  let text = '';
  for (const { hits, ttlSeconds } of increments) {
    text += hits === 1 ? oneHitOf(ttlSeconds) : integerOf(hits) + integerOf(ttlSeconds);
  }
  return text;
}

/** Returns the script's answer; rejects with the error of the client or the server. */
export function callScript(
  client: Redis,
  script: Script,
  { count, text }: ScriptArguments,
  name: 'evalsha' | 'eval',
): Promise<unknown> {
  const body = name === 'evalsha' ? script.sha : script.source;
  const head = `*${String(count + 2)}\r\n${encodeAscii(name)}${encodeAscii(body)}`;
  const command = new ScriptCall(name, head + text);
  client.sendCommand(command);
  return command.promise as Promise<unknown>;
}

/** Size of the caches of heads, integers and times to live: joining pieces costs more than looking them up. */
const REMEMBERED = 4096;
const heads: string[] = [];
const integers = new Map<number | bigint, string>();
const oneHits = new Array<string | undefined>(REMEMBERED).fill(undefined);
const oneHitTtls = new Float64Array(REMEMBERED);

/** The RESP bytes before a bulk string, including the end of the previous one. */
export function headOf(byteLength: number): string {
  if (byteLength >= REMEMBERED) return `\r\n$${String(byteLength)}\r\n`;
  return (heads[byteLength] ??= `\r\n$${String(byteLength)}\r\n`);
}

/** One hit and a time to live: most increments. The last time to live of each slot is cached. */
function oneHitOf(ttlSeconds: number): string {
  const slot = ttlSeconds & (REMEMBERED - 1);
  const known = oneHits[slot];
  if (known !== undefined && oneHitTtls[slot] === ttlSeconds) return known;
  const text = integerOf(1) + integerOf(ttlSeconds);
  oneHitTtls[slot] = ttlSeconds;
  oneHits[slot] = text;
  return text;
}

/** Times to live are those of seven units, with some jitter. */
export function integerOf(value: number | bigint): string {
  const known = integers.get(value);
  if (known !== undefined) return known;
  const text = encodeAscii(String(value));
  if (integers.size >= REMEMBERED) integers.clear();
  integers.set(value, text);
  return text;
}

/** One bulk string (RESP) of characters of one byte each. */
export function encodeAscii(text: string): string {
  return `$${String(text.length)}\r\n${text}\r\n`;
}
