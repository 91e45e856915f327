import type { Snapshot } from '../../../streams';
import type { HealthSettings } from '../../settings/servers';
import type { ServiceHealth } from './health';
import type { CounterStore } from '../store/store';

/** Components that are down without making the service unhealthy, and why they are ignored. */
export type NotCounted = () => ReadonlyMap<string, string>;

const REASONS: Readonly<Record<string, string>> = {
  configuration: 'HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED=false',
  keys: 'HEALTHY_WITH_EQUAL_KEYS=false',
};

export function createNotCounted(
  { needsStoreConnection }: HealthSettings,
  health: Snapshot<ServiceHealth>,
  store: Pick<CounterStore, 'hanging' | 'misplaced'>,
): NotCounted {
  const ofStore = needsStoreConnection
    ? 'a connection is open'
    : 'KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION=false';
  return () => {
    const { down, ignored } = health.current;
    const misplaced = store.misplaced?.().keys() ?? [];
    const all = [...ignored, ...(store.hanging?.() ?? []), ...misplaced];
    const names = all.filter((name) => !down.includes(name));
    return new Map(names.map((name) => [name, REASONS[name] ?? ofStore]));
  };
}
