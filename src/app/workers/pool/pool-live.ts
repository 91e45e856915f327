import type { WorkerFigures } from '../../../stats/dashboard/live-figures';
import { mergeFigures, mergeHot } from '../../../stats/dashboard/merge-figures';
import type { LiveView } from '../../../stats/dashboard/create-live-view';
import type { MergedGauges } from '../../../stats/merge-differences';
import type { Deciders } from '../../compose/decider';
import type { OpenOutage, OutageFailure } from '../../outage-log';
import { BUSY } from '../../../platform/busy-share';
import type { SeenByWorker } from '../messages';
import type { Slot } from './slot';

/** What the dashboard shows of all workers. They are asked only while somebody looks. */
export function createPoolLive(gauges: Pick<MergedGauges, 'of'>) {
  const latest = new Map<number, SeenByWorker>();
  let watchers = 0;
  const watch = (slots: readonly Slot[], isOn: boolean): void => {
    latest.clear();
    for (const slot of slots) slot.send({ kind: 'watch', isOn });
  };
  const figuresOfAll = () => [...latest.values()].map(({ figures }) => figures);
  const figuresOf = ({ worker, state, restarts }: Slot): WorkerFigures => ({
    ...{ worker, isUp: state === 'up', restarts },
    requests: latest.get(worker)?.figures.requests ?? 0,
    busy: gauges.of(worker, BUSY),
  });
  return {
    /** A worker came up: it has to know whether somebody looks. */
    greet(slot: Slot) {
      if (watchers > 0) slot.send({ kind: 'watch', isOn: true });
    },
    /** What a worker did of late; undefined: it has ended. */
    report(worker: number, seen: SeenByWorker | undefined) {
      if (seen === undefined) latest.delete(worker);
      else latest.set(worker, seen);
    },
    /** The outages that workers see: each name once, the one that has lasted longest. */
    outages: (): readonly OpenOutage<OutageFailure>[] => {
      const longest = new Map<string, OpenOutage<OutageFailure>>();
      for (const outage of [...latest.values()].flatMap(({ outages }) => outages))
        if (outage.lastedMs > (longest.get(outage.name)?.lastedMs ?? -1))
          longest.set(outage.name, outage);
      return [...longest.values()];
    },
    /** The view for the dashboard: rules, gauges and response times are those of the owner's own. */
    over: (own: LiveView, slots: readonly Slot[]): Deciders['live'] => ({
      start() {
        own.start();
        watchers += 1;
        if (watchers === 1) watch(slots, true);
      },
      stop() {
        watchers -= 1;
        if (watchers === 0) watch(slots, false);
        own.stop();
      },
      get tree() {
        return own.tree;
      },
      // What each worker said last, as it decays over some seconds.
      hot: (_seconds, most) => mergeHot(figuresOfAll(), most),
      take: () => ({
        ...mergeFigures(figuresOfAll(), own.take()),
        workers: slots.map(figuresOf),
      }),
    }),
  };
}
