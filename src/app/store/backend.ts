import type { Observable } from 'rxjs';
import type { CounterReader, CounterWriter, ListOpen } from '../../core/ports';
import type { ReadFields } from '../../counters/limits-from/create-limits-from';
import type { OverLimitCache } from '../../counters/over-limit-cache';
import type { VersionNote, Claim } from '../../counters/redis/notes';
import type { PublishInvalidation } from '../../counters/with-over-limit-cache';
import type { StoreChain } from './chain';

export type StoreConnections = ReadonlyMap<string, Observable<boolean>>;

/** The state of a counter store for display: where it is, and whether it is connected. */
export interface StoreView {
  readonly connected$: Observable<boolean>;
  /** Connections of each store, by its name in the health check. */
  readonly connections: StoreConnections;
  /** Why the store cannot be reached, with the address; undefined while it can or the cause is unknown. */
  readonly whyAway: () => string | undefined;
  /** How to mend a store that is not of the kind in the settings, by its name in the health check. */
  readonly misplaced: () => ReadonlyMap<string, string>;
  /** One line for the start: where counters are stored. */
  readonly description: string;
}

/** A Redis and its support of scripts. */
export interface ScriptStore {
  /** The prefix of its statistics. */
  readonly prefix: string;
  /** It refuses scripts now, although the settings ask for them. */
  readonly lacksScripts: () => boolean;
  /** The rules whose counters it has. */
  readonly counts: 'all' | 'per-second' | 'others';
}

/** What every counter store offers, before leases and the local cache. Undefined: it cannot do that. */
export interface StoreBackend extends StoreView {
  readonly servers: StoreChain['servers'];
  /** Connects, and reconnects, while it is subscribed to. Completes after its counters are closed. */
  readonly run$: Observable<never>;
  /** Unregisters the gauges that its clients do not unregister themselves. */
  readonly closeGauges: () => void;
  /** Reads counters past breakers and the local cache. */
  readonly reader: CounterReader;
  readonly writer: CounterWriter;
  /** Undefined: other instances cannot receive what their local caches must drop. */
  readonly publishInvalidation: PublishInvalidation | undefined;
  /** Counters over their limit now, up to a number; undefined where they cannot be listed. */
  readonly listOver: OverLimitCache['list'] | undefined;
  /** Undefined: no rule of this store has reservations. */
  readonly listOpen: ListOpen | undefined;
  /** Reads fields of a hash; undefined where the store has no hashes. */
  readonly readFields: ReadFields | undefined;
  /** Undefined: instances cannot compare texts in this store. */
  readonly claim: ((claim: Claim) => Promise<string>) | undefined;
  /** Writes versions, and returns those of all instances; undefined for the same reason. */
  readonly noteVersions: ((note: VersionNote) => Promise<readonly string[]>) | undefined;
  /** Names of connected stores that do not answer, as in the health check. */
  readonly hanging: () => readonly string[];
  /** Empty: it has no scripts. */
  readonly scriptStores: readonly ScriptStore[];
}
