import { StoreError } from '../../../core/errors';
import type { HostAndPort } from '../options';
import { AnswerError } from '../store-errors';
import type { PlainCommand } from '../pipeline';
import type { ClusterNode } from './cluster-nodes';

/** Redirects followed per operation; more means that the nodes disagree. */
export const MAX_STEPS = 5;

/** How to apply an increment that a node has refused. */
export type Redirect =
  /** Its slot has another owner. */
  | { readonly kind: 'moved'; readonly to: HostAndPort }
  /** Its slot is being moved to another node, which accepts it after ASKING. */
  | { readonly kind: 'ask'; readonly to: HostAndPort }
  /** On the same node by a plain command: an error inside a script does not say where the key is. */
  | { readonly kind: 'without-scripts' };

const ELSEWHERE =
  /non local key|hash to the same slot|CROSSSLOT|undeclared key|cluster is down|^TRYAGAIN/i;

/** The redirect in an error; undefined when it is a failure. Nothing was applied in either case. */
export function toRedirect(error: StoreError, askedHost: string): Redirect | undefined {
  if (!(error instanceof AnswerError)) return undefined;
  const { answer } = error;
  const [, kind, host = '', port = ''] = /^(MOVED|ASK) \d+ (.*):(\d+)$/.exec(answer) ?? [];
  if (kind === undefined) return ELSEWHERE.test(answer) ? { kind: 'without-scripts' } : undefined;
  const to = { host: host === '' ? askedHost : host, port: Number(port) };
  return { kind: kind === 'ASK' ? 'ask' : 'moved', to };
}

/** Whether an answer makes the slot map doubtful without naming another node. */
export function isClusterDoubtful(error: StoreError): boolean {
  return error instanceof AnswerError && error.answer.startsWith('CLUSTERDOWN');
}

/** Where commands go first; `asking`: its slot is being moved there. */
interface FirstNode {
  readonly first: ClusterNode;
  readonly asking: boolean;
}

/** Sends commands about one key to a node, and follows redirects. Rejects with a StoreError. */
export async function sendFollowing(
  nodeAt: (address: HostAndPort) => ClusterNode | undefined,
  { first, ...start }: FirstNode,
  commands: readonly PlainCommand[],
  deadlineMs: number,
): Promise<readonly unknown[]> {
  let asked = first;
  let { asking } = start;
  for (let step = 1; ; step += 1) {
    try {
      return await asked.node.send(commands, { deadlineMs, asking });
    } catch (error) {
      const redirect = error instanceof StoreError ? toRedirect(error, asked.host) : undefined;
      const isOther = redirect !== undefined && redirect.kind !== 'without-scripts';
      if (!isOther || step === MAX_STEPS) throw error;
      const next = nodeAt(redirect.to);
      if (next === undefined) throw error;
      asked = next;
      asking = redirect.kind === 'ask';
    }
  }
}
