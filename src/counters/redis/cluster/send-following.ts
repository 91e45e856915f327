import { StoreError } from '../../../core/errors';
import { type HostAndPort } from '../options';
import { type PlainCommand } from '../pipeline';
import { type ClusterNode } from './cluster-nodes';
import { MAX_STEPS, toRedirect } from './redirect';

/** Where commands go first; `asking`: its slot is being moved there. */
export interface FirstNode {
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
