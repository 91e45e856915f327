import type { LiveFigures } from '../../stats/live/live-figures';
import { mergeFigures } from '../../stats/live/merge-figures';
import type { LiveView } from '../../stats/live/create-live-view';
import type { Deciders } from '../decider';
import type { Slot } from './slot';

/** What the dashboard shows of all workers. They are asked only while somebody looks. */
export interface PoolLive {
  /** A worker came up: it has to know whether somebody looks. */
  greet(slot: Slot): void;
  /** What a worker did of late; undefined: it has ended. */
  report(worker: number, figures: LiveFigures | undefined): void;
  /** The view for the dashboard: rules, gauges and response times are those of the owner's own. */
  over(own: LiveView, slots: readonly Slot[]): Deciders['live'];
}

export function createPoolLive(): PoolLive {
  const latest = new Map<number, LiveFigures>();
  let isOn = false;
  const watch = (slots: readonly Slot[], now: boolean): void => {
    isOn = now;
    latest.clear();
    for (const slot of slots) slot.send({ kind: 'watch', isOn });
  };
  return {
    greet(slot) {
      if (isOn) slot.send({ kind: 'watch', isOn });
    },
    report(worker, figures) {
      if (figures === undefined) latest.delete(worker);
      else latest.set(worker, figures);
    },
    over: (own, slots) => ({
      start() {
        own.start();
        watch(slots, true);
      },
      stop() {
        watch(slots, false);
        own.stop();
      },
      get tree() {
        return own.tree;
      },
      take: () => mergeFigures([...latest.values()], own.take()),
    }),
  };
}
