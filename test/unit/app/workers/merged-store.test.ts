import { createMergedStore } from '../../../../src/app/workers/merged-store';

const state = (store: boolean, perSecond: boolean, whyAway?: string) => ({
  connected: new Map([
    ['store', store],
    ['per-second store', perSecond],
  ]),
  whyAway,
});

/** Two stores as their workers see them, and what the owner shows of them. */
function start() {
  const merged = createMergedStore(['store', 'per-second store'], 'Redis');
  const shown = { all: false, store: false };
  merged.connected$.subscribe((isConnected) => (shown.all = isConnected));
  merged.connections.get('store')?.subscribe((isConnected) => (shown.store = isConnected));
  return { merged, shown };
}

it('is connected while each store has a worker that is connected to it', () => {
  const { merged, shown } = start();
  merged.report(1, state(true, false));
  expect(shown).toEqual({ all: false, store: true });
  merged.report(2, state(false, true));
  expect(shown).toEqual({ all: true, store: true });
  merged.report(1, state(false, true));
  expect(shown).toEqual({ all: false, store: false });
});

it('forgets what a worker said that has ended', () => {
  const { merged, shown } = start();
  merged.report(1, state(true, true, 'r1:6379: timed out'));
  expect([shown.all, merged.whyAway()]).toEqual([true, 'r1:6379: timed out']);
  merged.report(1, undefined);
  expect([shown.all, merged.whyAway()]).toEqual([false, undefined]);
});
