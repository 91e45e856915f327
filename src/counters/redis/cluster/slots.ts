import { type RedisConnection } from '../connection';
import { isPort, type HostAndPort } from '../options';

/** Slots, both ends included, and the node that owns them. */
export interface SlotRange {
  readonly first: number;
  readonly last: number;
  readonly owner: HostAndPort;
}

/** The slot map of one node. */
export interface SlotMap {
  readonly ranges: readonly SlotRange[];
  /** The node sees a majority: an isolated one keeps reporting an old map. */
  readonly isTrusted: boolean;
}

/** Reads a node's slot map; rejects when it does not know it, does not answer in time or answers nonsense. */
export async function readSlotMap(
  { client }: RedisConnection,
  askedHost: string,
  answerMs: number,
): Promise<SlotMap> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`no answer to CLUSTER SLOTS within ${String(answerMs)} ms`);
    timer = setTimeout(reject, answerMs, error);
  });
  const answers = Promise.all([
    client.call('CLUSTER', 'SLOTS'),
    client.call('CLUSTER', 'INFO').then(String, () => 'cluster_state:ok'),
  ]);
  try {
    const [slots, info] = await Promise.race([answers, late]);
    const ranges = parseSlots(slots, askedHost);
    if (ranges.length === 0) throw new Error('its slot map is empty');
    return { ranges, isTrusted: info.includes('cluster_state:ok') };
  } finally {
    clearTimeout(timer);
    answers.catch(() => undefined);
  }
}

/**
 * The answer to CLUSTER SLOTS; a node that does not know its own host means the host that was called. Throws on an invalid port:
 * the known map is better than a broken one.
 */
export function parseSlots(answer: unknown, askedHost: string): readonly SlotRange[] {
  if (!Array.isArray(answer)) return [];
  return answer.flatMap((row: unknown): readonly SlotRange[] => {
    const [first, last, node] = row as [unknown, unknown, unknown];
    const [host, port] = Array.isArray(node) ? (node as unknown[]) : [];
    const range = { first: Number(first), last: Number(last) };
    const isRange = range.first >= 0 && range.last < SLOTS && range.first <= range.last;
    if (!isRange || host === '?' || Number(port) === 0) return [];
    if (!isPort(Number(port))) throw new Error(`its slot map has the port ${String(port)}`);
    const named = typeof host === 'string' ? host : '';
    return [{ ...range, owner: { host: named === '' ? askedHost : named, port: Number(port) } }];
  });
}

/** Slots of every cluster. */
export const SLOTS = 16_384;

/** CRC-16/XMODEM, polynomial 0x1021: as the cluster specification requires. */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
  return crc & 0xffff;
});

/** The slot of a key; with a hash tag in braces (`a{b}c`) only that part counts. */
export function slotOf(key: string): number {
  const tag = hashTag(key);
  let crc = 0;
  for (let at = 0; at < tag.length; at += 1) {
    const code = tag.charCodeAt(at);
    if (code > 0x7f) return crcOfBytes(Buffer.from(tag)) % SLOTS;
    crc = next(crc, code);
  }
  return crc % SLOTS;
}

function crcOfBytes(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) crc = next(crc, byte);
  return crc;
}

function next(crc: number, byte: number): number {
  return ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ byte] as number);
}

function hashTag(key: string): string {
  const open = key.indexOf('{');
  if (open < 0) return key;
  const close = key.indexOf('}', open + 1);
  return close <= open + 1 ? key : key.slice(open + 1, close);
}
