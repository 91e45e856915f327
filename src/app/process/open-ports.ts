import type { Observable } from 'rxjs';
import { firstTrueOrTimeout } from '../../../streams';
import { ByteBudget } from '../../platform/byte-budget';
import type { HttpLimits } from '../../platform/http-listener';
import { HttpTurns } from '../../platform/http-turns';
import { addressText, listenAt } from '../../platform/listen-address';
import type { BoundSettings } from '../../settings/servers';
import type { Settings } from '../../settings/settings';
import type { Registry } from '../../stats/registry';
import type { Listener } from '../../transport/listener';
import { runToCompletion } from '../actor';

/** Memory limits for the connections of all ports. Connections that are closed for them are counted. */
export function createConnectionLimits(
  { maxHeldBytes, maxConnections }: BoundSettings,
  registry: Registry,
): HttpLimits {
  const budget = new ByteBudget(maxHeldBytes, () => {
    registry.count('ratelimit.connections.ended_unread', 1);
  });
  return { budget, maxConnections, turns: new HttpTurns() };
}

/** Addresses for calls, as `host:port` or `unix:path`. */
export interface CallAddresses {
  readonly grpc: string;
  readonly http: string;
}

/** All addresses of the service. */
export interface Addresses extends CallAddresses {
  readonly debug: string;
}

/** How long the ports wait for the first rules and the store; then they open regardless, so that health checks are answered. */
const FIRST_WAIT_MS = 300;

/** How long they wait for files with FORCE_START_WITHOUT_INITIAL_CONFIG, where health keeps no client away. */
const FORCED_WAIT_MS = 30_000;

/** Settles when each of these was true once, or after a short while regardless. */
export async function untilFirst(
  { configuration }: Settings,
  isRead$: Observable<boolean>,
  others: readonly Observable<boolean>[],
): Promise<void> {
  const isForced = configuration.forceStartWithoutInitialConfig;
  await Promise.all([
    untilTrue(isRead$, isForced ? FORCED_WAIT_MS : FIRST_WAIT_MS),
    ...others.map((is$) => untilTrue(is$, FIRST_WAIT_MS)),
  ]);
}

async function untilTrue(is$: Observable<boolean>, withinMs: number): Promise<void> {
  await runToCompletion(firstTrueOrTimeout(is$, withinMs));
}

/** Opens all ports; rejects with every address that cannot be opened. */
export async function listenAll(
  calls: { readonly listen: () => Promise<CallAddresses> },
  debug: Listener,
): Promise<Addresses> {
  const [addresses, debugAt] = await allOrEveryError([
    calls.listen(),
    listenAt(debug, { host: 'DEBUG_HOST', port: 'DEBUG_PORT' }),
  ]);
  return { ...addresses, debug: addressText(debugAt) };
}

/** Settles when all have; if any failed, with an AggregateError of all failures. */
export async function allOrEveryError<A, B>(
  both: readonly [Promise<A>, Promise<B>],
): Promise<readonly [A, B]> {
  const errors = (await Promise.allSettled(both)).flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  if (errors.length > 0) throw new AggregateError(errors);
  return Promise.all(both);
}
