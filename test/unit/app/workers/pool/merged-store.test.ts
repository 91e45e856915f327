import { createMergedStore } from '../../../../../src/app/workers/pool/owner-store';
import type { StoreState } from '../../../../../src/app/workers/messages';

const NAMES = ['store', 'per-second store'];

function start() {
  const store = createMergedStore(NAMES, 'two of Redis');
  const seen: boolean[] = [];
  store.connected$.subscribe((is) => seen.push(is));
  const ofName = new Map<string, boolean[]>();
  for (const [name, connected$] of store.connections) {
    const states: boolean[] = [];
    ofName.set(name, states);
    connected$.subscribe((is) => states.push(is));
  }
  return { store, seen, ofName };
}

const state = (store: boolean, perSecond: boolean, whyAway?: string): StoreState => ({
  connected: new Map([
    ['store', store],
    ['per-second store', perSecond],
  ]),
  whyAway,
  misplaced: new Map(whyAway === undefined ? [] : [['store', `set it: ${whyAway}`]]),
});

it('is connected while one worker is, to each of the stores', () => {
  const { store, seen, ofName } = start();
  store.report(1, state(true, false, 'refused'));
  expect([seen, ofName.get('store'), ofName.get('per-second store')]).toEqual([
    [false],
    [false, true],
    [false],
  ]);
  expect(store.whyAway()).toBe('refused');
  expect([...store.misplaced()]).toEqual([['store', 'set it: refused']]);
  store.report(2, state(false, true));
  expect([seen, ofName.get('per-second store')]).toEqual([
    [false, true],
    [false, true],
  ]);
  store.report(1, state(true, true));
  expect(store.whyAway()).toBeUndefined();
  expect(store.misplaced().size).toBe(0);
});

it('is away once every worker says so, or the last one that was connected has ended', () => {
  const { store, seen } = start();
  for (const worker of [1, 2]) store.report(worker, state(true, true));
  store.report(1, state(false, false, 'timed out'));
  expect(seen).toEqual([false, true]);
  store.report(2, undefined);
  expect(seen).toEqual([false, true, false]);
});
