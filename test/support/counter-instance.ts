import { filter, firstValueFrom, type Subscription } from 'rxjs';
import { createSnapshot } from '../../streams';
import { type CounterChange, createCounterAdmin } from '../../src/app/admin/counter-admin';
import { chooseCounters, type CounterStoreDeps } from '../../src/app/store/store';
import type { Rules } from '../../src/core/rules/rules';
import { readSettings } from '../../src/settings/settings';
import { createRegistry } from '../../src/stats/registry';
import { createRecordingLogger } from './recording-logger';

/** A reset, and who asks for it. */
export const RESET: CounterChange = {
  used: undefined,
  limit: undefined,
  open: false,
  dryRun: false,
  force: false,
  peer: '10.0.0.9',
  tokenId: '0a1b2c3d',
};

/** An instance without its ports: its store, and what operators ask of it. */
export async function startCounterInstance(
  initial: Rules,
  env: Readonly<Record<string, string>>,
  clocks: Pick<CounterStoreDeps, 'clock' | 'monotonicMs' | 'random'>,
) {
  const read = readSettings({ LocalCacheSizeInBytes: '100000', DISABLE_STATS: 'true', ...env });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const registry = createRegistry();
  const { logger, lines } = createRecordingLogger();
  const store = chooseCounters(read.settings, {
    ...clocks,
    statistics: registry,
    logger,
  });
  const connected = firstValueFrom(store.connected$.pipe(filter(Boolean)));
  const running: Subscription = store.run$.subscribe();
  await connected;
  const rules = createSnapshot<Rules | undefined>(initial);
  const admin = createCounterAdmin(
    {
      whyNoRules: { current: '' },
      rules,
      store,
      clock: clocks.clock,
      statistics: registry,
      logger,
    },
    { keyPrefix: '', isShared: read.settings.backend !== 'memory' },
  );
  return {
    ...{ store, admin, lines, registry, rules },
    async stop() {
      await store.counters.close();
      running.unsubscribe();
    },
  };
}
