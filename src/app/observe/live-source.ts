import { hostname } from 'node:os';
import type { Clock } from '../../core/ports';
import type { AdminSettings } from '../../settings/admin';
import type { LiveView } from '../../stats/dashboard/create-live-view';
import type { EventSource } from '../../transport/debug/event-stream';
import type { HealthActor } from './health';
import type { RulesActor } from '../rules/rules';
import { packageVersion } from '../../platform/package';
import type { Troubles } from './troubles';

export interface LiveSourceDeps {
  readonly live: Pick<LiveView, 'start' | 'stop' | 'tree' | 'take'>;
  readonly health: Pick<HealthActor, 'status' | 'connected'>;
  readonly store: { readonly description: string };
  readonly troubles: Pick<Troubles, 'list'>;
  readonly clock: Clock;
  readonly rulesVersion: RulesActor['version'];
  /** The time zone data of calendars; undefined: there are none. */
  readonly timeZoneData: () => string | undefined;
  /** ADMIN_API. */
  readonly adminApi: AdminSettings['api'];
}

/** The data of the dashboard: the rules once, then every second the figures and the troubles. */
export function createLiveSource({
  live,
  health,
  store,
  troubles,
  clock,
  rulesVersion,
  timeZoneData,
  adminApi,
}: LiveSourceDeps): EventSource {
  const startedSeconds = clock();
  const instance = { host: hostname(), version: packageVersion(), startedSeconds };
  return {
    start() {
      live.start();
    },
    stop() {
      live.stop();
    },
    base: {
      get version() {
        return live.tree;
      },
      read() {
        const { domains = [], unlisted = 0 } = live.tree ?? {};
        return { domains, unlisted, isLoaded: live.tree !== undefined };
      },
    },
    next: () => ({
      ...live.take(),
      serving: health.status.current.serving,
      troubles: troubles.list(),
      rulesVersion: rulesVersion(),
      timeZoneData: timeZoneData(),
      adminApi,
      storeName: store.description,
      storeConnected: health.connected.current,
      instance,
      nowSeconds: clock(),
      memoryBytes: process.memoryUsage.rss(),
    }),
  };
}
