import type { AdminSettings } from './admin';
import type { Backend } from './backend';
import type { BoundSettings } from './bounds';
import type { ClientFile } from './client-files';
import type { ConfigurationSettings } from './configuration';
import type { DecisionLogSettings } from './decision-log';
import type { DecisionSettings } from './decisions';
import type { HealthSettings } from './health';
import type { IdentitySettings } from './identity';
import type { LoggingSettings } from './logging';
import type { MemstoreSettings } from './memstore';
import type { ResponseHeaderSettings } from './response-headers';
import type { SecretSettings } from './secrets';
import type { ServerSettings } from './servers';
import type { StatisticsSettings } from './statistics';
import type { StoreSettings } from './store';
import type { TracingSettings } from './tracing';
import type { Workers } from './workers';
import type { XdsSettings } from './xds';

/** All that the operator asked for, checked. Times carry their unit in the name and may have a fraction. */
export interface Settings {
  readonly configuration: ConfigurationSettings;
  readonly xds: XdsSettings;
  readonly servers: ServerSettings;
  readonly workers: Workers;
  readonly bounds: BoundSettings;
  readonly admin: AdminSettings;
  readonly logging: LoggingSettings;
  readonly health: HealthSettings;
  readonly decisions: DecisionSettings;
  readonly decisionLog: DecisionLogSettings;
  readonly secrets: SecretSettings;
  readonly responseHeaders: ResponseHeaderSettings;
  /** Where counters live: `store` is defined for kvstore, `memstore` for memstore, and only there. */
  readonly backend: Backend;
  readonly store: StoreSettings | undefined;
  /** Takes the counters of limits per second; undefined: `store` takes them too. */
  readonly perSecondStore: StoreSettings | undefined;
  readonly storeFailure: {
    readonly mode: 'error' | 'allow' | 'deny' | 'local';
    /** Instances that share a limit while each counts for itself. */
    readonly replicas: number;
  };
  readonly memstore: MemstoreSettings | undefined;
  readonly memory: {
    /** Most counters that are kept at the same time. */
    readonly maxKeys: number;
    /** Most bytes that they may take; undefined: what the heap allows. */
    readonly maxBytes: number | undefined;
  };
  readonly statistics: StatisticsSettings;
  /** Undefined: nothing is traced. */
  readonly tracing: TracingSettings | undefined;
  readonly identity: IdentitySettings;
  /** Files without which no connection to the stores, or to the management server, can come about. */
  readonly clientFiles: {
    readonly stores: readonly ClientFile[];
    readonly rules: readonly ClientFile[];
  };
}
