import { resolveSrv as resolveWithSystem } from 'node:dns/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { lastValueFrom } from 'rxjs';
import { createStopSignal, keepConnected } from '../../../streams';
import { toReason } from '../../platform/errors';
import { type MemcachedCountersDeps, type NodeAddress, type NodeList, toNodeText } from './options';

/** Follows the list of nodes. */
export interface Nodes {
  /** Tells of the list, at once when it is known, and of every change; resolves after `stop`. */
  run(): Promise<void>;
  stop(): void;
}

export interface NodesDeps extends Pick<
  MemcachedCountersDeps,
  'monotonicMs' | 'random' | 'onEvent' | 'resolveSrv'
> {
  readonly onNodes: (nodes: readonly NodeAddress[]) => void;
  /** Why there are none yet. */
  readonly onUnresolved: (reason: string) => void;
}

const RETRY = { initialMs: 1_000, maxMs: 10_000, factor: 2, jitter: 0.1 };

export function createNodes(deps: NodesDeps, list: NodeList): Nodes {
  if (list.kind === 'list') {
    return {
      run() {
        deps.onNodes(list.addresses);
        return Promise.resolve();
      },
      stop: () => undefined,
    };
  }
  return followRecord(deps, list);
}

function followRecord(deps: NodesDeps, list: Extract<NodeList, { kind: 'srv' }>): Nodes {
  const { monotonicMs, random, onEvent, onNodes, onUnresolved } = deps;
  const { resolveSrv = resolveWithSystem } = deps;
  const { record, refreshMs } = list;
  const stopped = createStopSignal();
  const stopping = new AbortController();
  let known = '';

  const look = async (): Promise<number> => {
    const answer = await resolveSrv(record);
    if (answer.length === 0) throw new Error('the record names no node');
    const nodes = sortNodes(answer);
    const texts = nodes.map(toNodeText);
    if (!stopping.signal.aborted && texts.join() !== known) {
      known = texts.join();
      onEvent?.({ kind: 'nodes', store: record, nodes: texts });
      onNodes(nodes);
    }
    await untilNextLook(refreshMs, stopping.signal);
    return Infinity;
  };

  const run$ = keepConnected({
    connect: look,
    backoff: RETRY,
    steadyMs: 0,
    giveUpAfterMs: 0,
    now: monotonicMs,
    random,
    onFailure(error, _, nextAttemptMs) {
      const reason = toReason(error);
      onUnresolved(reason);
      onEvent?.({ kind: 'unresolved', store: record, reason, nextAttemptMs });
    },
    toFinalError: (error) => new Error(toReason(error)),
    onEnd: () => {
      stopping.abort();
    },
  }).pipe(stopped.until());

  return {
    run: () => lastValueFrom(run$, { defaultValue: undefined }),
    stop: () => {
      stopped.stop();
    },
  };
}

async function untilNextLook(refreshMs: number, signal: AbortSignal): Promise<void> {
  if (refreshMs > 0) {
    await delay(refreshMs, undefined, { signal, ref: false }).catch(() => undefined);
    return;
  }
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}

/** In the order of the texts that the clients of today sort, whose names end with a dot. */
function sortNodes(
  answer: readonly { readonly name: string; readonly port: number }[],
): readonly NodeAddress[] {
  const textOf = ({ host, port }: NodeAddress) => `${host}.:${String(port)}`;
  return answer
    .map(({ name, port }) => ({ host: name.replace(/\.$/, ''), port }))
    .sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}
