import type { Snapshot } from '../../../streams';
import type { Clock } from '../../core/ports';
import { linesOfRules } from '../../core/rules/dump';
import type { Rules } from '../../core/rules/rules';
import type { HttpLimits } from '../../platform/http-listener';
import type { Settings } from '../../settings/settings';
import { dumpJson, dumpText } from '../../stats/dump';
import type { Registry } from '../../stats/registry';
import type { EventSource } from '../../transport/debug/event-stream';
import { createDebugListener } from '../../transport/debug/listener';
import type { WorkerProfiles } from '../../transport/debug/profile-endpoint';
import type { Listener } from '../../transport/listener';
import type { RulesActor } from '../rules/rules';
import type { Admin } from '../admin/create-admin';
import { hostname } from 'node:os';
import type { AdminSettings } from '../../settings/servers';
import type { LiveView } from '../../stats/dashboard/create-live-view';
import type { HealthActor } from '../observe/health';
import { packageVersion } from '../../platform/package';
import type { Troubles } from '../observe/troubles';

export interface DebugPortDeps {
  readonly limits: HttpLimits;
  readonly rules: Snapshot<Rules | undefined>;
  readonly registry: Registry;
  /** The events of the dashboard. */
  readonly live: EventSource;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly rulesVersion: RulesActor['version'];
  readonly admin: Admin;
  readonly workerProfiles: WorkerProfiles | undefined;
}

/** The port for operators: rules, statistics, profiles, the dashboard and the operator API. It is still closed. */
export function createDebugPort(
  { servers, bounds, admin: settings }: Settings,
  { limits, rules, registry, rulesVersion, admin, ...deps }: DebugPortDeps,
): Listener {
  return createDebugListener(
    {
      ...deps,
      dumpRules: () => (rules.current === undefined ? [] : linesOfRules(rules.current)),
      dumpStats: () => dumpText(registry),
      dumpStatsJson: () => dumpJson(registry),
      rulesVersion: () => rulesVersion()?.version,
      admin: admin.options,
      checkToken: admin.checkToken,
    },
    {
      ...servers.debug,
      limits,
      allowedHosts: bounds.debugAllowedHosts ?? [],
      adminHosts: settings.hosts,
      protectAll: settings.protectAll,
    },
  );
}

interface LiveSourceDeps {
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
