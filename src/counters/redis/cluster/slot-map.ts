import { type HostAndPort } from '../address';
import { type Link } from '../link';
import { SLOTS } from './slot';

/** Slots, both ends included, and the node that owns them. */
export interface SlotRange {
  readonly first: number;
  readonly last: number;
  readonly owner: HostAndPort;
}

/** How one node says that slots are placed. */
export interface SlotMap {
  readonly ranges: readonly SlotRange[];
  /** The node sees a majority: one that is cut off goes on saying what was true before. */
  readonly isTrusted: boolean;
}

/** Asks a node; rejects when it does not know, does not answer in time or says nothing of use. */
export async function readSlotMap(
  { client }: Link,
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
    if (ranges.length === 0) throw new Error('it knows no owner of any slot');
    return { ranges, isTrusted: info.includes('cluster_state:ok') };
  } finally {
    clearTimeout(timer);
    answers.catch(() => undefined);
  }
}

/** The answer to CLUSTER SLOTS; a node that does not know its own host means the one that was asked. */
export function parseSlots(answer: unknown, askedHost: string): readonly SlotRange[] {
  if (!Array.isArray(answer)) return [];
  return answer.flatMap((row: unknown): readonly SlotRange[] => {
    const [first, last, node] = row as [unknown, unknown, unknown];
    const [host, port] = Array.isArray(node) ? (node as unknown[]) : [];
    const range = { first: Number(first), last: Number(last) };
    const isRange = range.first >= 0 && range.last < SLOTS && range.first <= range.last;
    if (!isRange || host === '?' || !(Number(port) > 0)) return [];
    const named = typeof host === 'string' ? host : '';
    return [{ ...range, owner: { host: named === '' ? askedHost : named, port: Number(port) } }];
  });
}
