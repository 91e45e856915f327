import { addressText } from '../../platform/listen-address';
import { resolveSrv as resolveWithSystem } from 'node:dns/promises';
import { map, of, type Observable } from 'rxjs';
import { keepRefreshed } from '../../../streams';
import { toReason } from '../../platform/errors';
import { type MemcachedCountersDeps, type NodeAddress, type NodeList } from './options';

export interface FollowNodesDeps extends Pick<
  MemcachedCountersDeps,
  'random' | 'onEvent' | 'resolveSrv'
> {
  /** Why no nodes, or no newer ones, are known. */
  readonly onUnresolved: (reason: string) => void;
}

const RETRY = { initialMs: 1_000, maxMs: 10_000, factor: 2, jitter: 0.1 };

/** Emits the nodes when they are known and whenever they have changed. */
export function followNodes(
  deps: FollowNodesDeps,
  list: NodeList,
): Observable<readonly NodeAddress[]> {
  return list.kind === 'list' ? of(list.addresses) : followRecord(deps, list);
}

function followRecord(
  { random, onEvent, onUnresolved, resolveSrv = resolveWithSystem }: FollowNodesDeps,
  { record: store, refreshMs }: NodeList & { readonly kind: 'srv' },
): Observable<readonly NodeAddress[]> {
  const nodes$ = keepRefreshed({
    load: async () => sortNodes(await resolveSrv(store)),
    everyMs: refreshMs,
    backoff: RETRY,
    random,
    isSame: (a, b) => a.map(addressText).join() === b.map(addressText).join(),
    onFailure(error, nextAttemptMs) {
      const reason = toReason(error);
      onUnresolved(reason);
      onEvent?.({ kind: 'unresolved', store, reason, nextAttemptMs });
    },
    onRecovery: () => onEvent?.({ kind: 'resolved', store }),
  });
  return nodes$.pipe(
    map((nodes) => {
      onEvent?.({ kind: 'nodes', store, nodes: nodes.map(addressText) });
      return nodes;
    }),
  );
}

/** Sorted by name with a trailing dot, as existing clients do. */
function sortNodes(
  answer: readonly { readonly name: string; readonly port: number }[],
): readonly NodeAddress[] {
  if (answer.length === 0) throw new Error('the record lists no nodes');
  const textOf = ({ host, port }: NodeAddress) => `${host}.:${String(port)}`;
  return answer
    .map(({ name, port }) => ({ host: name.replace(/\.$/, ''), port }))
    .sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}
