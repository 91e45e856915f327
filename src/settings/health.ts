import { boolean } from '../platform/env-table/scalars';
import type { Values } from '../platform/env-table/setting';
import { setting, timerFromZero } from './setting';

export const healthTable = {
  needsConfiguration: setting('HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED', boolean, {
    default: 'false',
    doc: 'true makes the service unhealthy while no domain is loaded',
  }),
  needsStoreConnection: setting('KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION', boolean, {
    default: 'false',
    doc: 'true makes the service unhealthy while no connection to the store is active',
  }),
  needsEqualKeys: setting('HEALTHY_WITH_EQUAL_KEYS', boolean, {
    default: 'true',
    doc: 'false keeps the service healthy though its SECRET_KEYS_FILE differs from that of other instances',
  }),
  drainDelayMs: setting('DRAIN_DELAY', timerFromZero, {
    default: '0',
    doc: 'time after a signal to stop in which health is down and calls are still served',
  }),
};

export type HealthSettings = Values<typeof healthTable>;
