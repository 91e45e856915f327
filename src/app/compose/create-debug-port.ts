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
