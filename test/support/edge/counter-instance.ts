import type { Subscription } from 'rxjs';
import { createSnapshot } from '../../../streams';
import { createCounterAdmin } from '../../../src/app/admin/counter-admin';
import { chooseCounters } from '../../../src/app/store/store';
import type { Rules } from '../../../src/core/rules/rules';
import { readSettings } from '../../../src/settings/settings';
import { createRegistry } from '../../../src/stats/registry';
import type { CounterChange } from '../../../src/transport/debug/admin/counter-endpoints';
import { eventually } from './eventually';
import { createRecordingLogger } from '../recording-logger';

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
  clock = () => Date.now() / 1_000,
) {
  const read = readSettings({ LocalCacheSizeInBytes: '100000', DISABLE_STATS: 'true', ...env });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const registry = createRegistry();
  const { logger, lines } = createRecordingLogger();
  const store = chooseCounters(read.settings, {
    clock,
    monotonicMs: () => performance.now(),
    random: Math.random,
    statistics: registry,
    logger,
  });
  let isConnected = false;
  const subscriptions: Subscription[] = [
    store.connected$.subscribe((is) => (isConnected = is)),
    store.run$.subscribe(),
  ];
  await eventually(() => {
    expect(isConnected).toBe(true);
  });
  const rules = createSnapshot<Rules | undefined>(initial);
  const admin = createCounterAdmin(
    { whyNoRules: { current: '' }, rules, store, clock, statistics: registry, logger },
    { keyPrefix: '', isShared: read.settings.backend !== 'memory' },
  );
  return {
    ...{ store, admin, lines, registry, rules },
    async stop() {
      await store.counters.close();
      for (const each of subscriptions) each.unsubscribe();
    },
  };
}
