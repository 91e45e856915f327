import type { CheckSet } from '../../request-maps/check';
import type { FoundZone } from '../../core/windows/zone-data';
import type { DomainDefinition } from '../../core/rules/definition';
import type { Differences } from '../../stats/differences';
import type { LiveFigures } from '../../stats/dashboard/live-figures';
import type { TlsPems } from '../../transport/grpc/options';
import type { ProfileFile, ProfileRequest } from '../../transport/debug/profiles/profiles';
import type { ServiceHealth } from '../observe/health';
import type { CallAddresses } from '../process/open-ports';
import type { OpenOutage } from '../../../streams';
import type { OutageFailure } from '../outage-log';

/** Bytes that the connections of a worker hold: a gauge that the owner adds to its own. */
export const HELD_BYTES = 'held_bytes';

/** Messages from the owner to a worker: plain data for structured clone. */
export type ToWorker =
  /** The answer to `hello`. */
  | {
      readonly kind: 'welcome';
      readonly components: readonly string[];
      readonly certificates: TlsPems | undefined;
    }
  /** A time zone of a set of rules, before its parts: no two processes use other data. */
  | { readonly kind: 'zone'; readonly name: string; readonly zone: FoundZone }
  /** A part of a set of rules; `rules` follows the last. */
  | { readonly kind: 'rules-part'; readonly chunk: readonly DomainDefinition[] }
  | { readonly kind: 'rules'; readonly number: number }
  /** The files of CHECK_CONFIG, all of them without a mistake. */
  | { readonly kind: 'checks'; readonly from: CheckSet['from'] }
  /** The rules were read, right or wrong. */
  | { readonly kind: 'read' }
  /** What callers read while there are no rules. */
  | { readonly kind: 'no-rules'; readonly reason: string }
  | { readonly kind: 'health'; readonly status: ServiceHealth }
  | { readonly kind: 'certificates'; readonly pems: TlsPems }
  /** Report the current counts; `collected` follows. */
  | { readonly kind: 'collect'; readonly id: number }
  /** Whether a dashboard is open: send `figures` each second, or stop. */
  | { readonly kind: 'watch'; readonly isOn: boolean }
  /** Take a profile; `profile` follows. Undefined: no caller waits for one any longer. */
  | { readonly kind: 'profile'; readonly id: number; readonly request: ProfileRequest | undefined }
  /** Report the number of open gRPC connections; `connections` follows, unless the engine cannot ask single ones to leave. */
  | { readonly kind: 'count-connections' }
  /** Keep the `most` oldest and accept no more; undefined: accept all. */
  | { readonly kind: 'keep-connections'; readonly most: number | undefined }
  | { readonly kind: 'drain'; readonly withinMs: number };

/** Messages from a worker to the owner. */
export type FromWorker =
  | { readonly kind: 'hello' }
  /** Its ports are open. */
  | { readonly kind: 'listening'; readonly addresses: CallAddresses }
  /** It cannot work, and neither could another in its place. */
  | { readonly kind: 'fatal'; readonly problems: readonly string[] }
  | { readonly kind: 'in-force'; readonly number: number }
  | { readonly kind: 'connections'; readonly open: number }
  | { readonly kind: 'store'; readonly state: StoreState }
  | { readonly kind: 'counted'; readonly differences: Differences }
  | { readonly kind: 'gauges'; readonly gauges: ReadonlyMap<string, number> }
  | { readonly kind: 'collected'; readonly id: number }
  | ({ readonly kind: 'figures' } & SeenByWorker)
  | { readonly kind: 'profile'; readonly id: number; readonly result: ProfileResult }
  /** A line of the decision log on standard output. */
  | { readonly kind: 'decision'; readonly line: string }
  /** A line of its log that is too long for several processes to write into one pipe. */
  | { readonly kind: 'log'; readonly line: string };

/** The dashboard's view of a worker. */
export interface SeenByWorker {
  readonly figures: LiveFigures;
  readonly outages: readonly OpenOutage<OutageFailure>[];
}

/** A string: why there is no profile. */
export type ProfileResult = ProfileFile | string;

export interface StoreState {
  /** By the name of the store in the health check. */
  readonly connected: ReadonlyMap<string, boolean>;
  readonly whyAway: string | undefined;
  /** See `StoreView`. */
  readonly misplaced: ReadonlyMap<string, string>;
}

/** Identifies a worker; set by the owner. */
export const WORKER_VARIABLE = 'WEIR_WORKER';
export const WORKERS_VARIABLE = 'WEIR_WORKERS';

/** The index of this worker, and their number; undefined: this process is not a worker. */
export interface WorkerPlace {
  readonly worker: number;
  readonly count: number;
}

export function workerPlace(process: NodeJS.Process): WorkerPlace | undefined {
  const { env, connected } = process;
  const worker = Number(env[WORKER_VARIABLE]);
  const count = Number(env[WORKERS_VARIABLE]);
  return connected && worker > 0 && count > 1 ? { worker, count } : undefined;
}
