import type { HealthStatus, Snapshot } from '../../streams';
import type { Clock } from '../core/ports';
import type { LiveView } from '../stats/live/create-live-view';
import type { EventSource } from '../transport/debug/event-stream';

export interface LiveSourceDeps {
  readonly live: LiveView;
  readonly health: Snapshot<HealthStatus<string>>;
  readonly store: { readonly description: string };
  readonly connected: { readonly current: boolean };
  readonly clock: Clock;
}

/** What the dashboard is told: the rules once, then every second what happens. */
export function createLiveSource({
  live,
  health,
  store,
  connected,
  clock,
}: LiveSourceDeps): EventSource {
  const startedSeconds = clock();
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
      serving: health.current.serving,
      down: health.current.down,
      storeName: store.description,
      storeConnected: connected.current,
      uptimeSeconds: clock() - startedSeconds,
      memoryBytes: process.memoryUsage.rss(),
    }),
  };
}
