import type { WorkerFigures } from '../../../stats/dashboard/live-figures';
import { mergeFigures, mergeHot } from '../../../stats/dashboard/merge-figures';
import type { LiveView } from '../../../stats/dashboard/create-live-view';
import type { MergedGauges } from '../../../stats/differences';
import type { Deciders } from '../../compose/decider';
import type { OpenOutage } from '../../../../streams';
import type { OutageFailure } from '../../outage-log';
import { BUSY } from '../../../platform/busy-share';
import type { SeenByWorker } from '../messages';
import type { Slot } from './slot';

/** The dashboard's view of all workers. They report only while a dashboard is open. */
export function createPoolLive(gauges: Pick<MergedGauges, 'of'>) {
  const latest = new Map<number, SeenByWorker>();
  let watchers = 0;
  const watch = (slots: readonly Slot[], isOn: boolean): void => {
    latest.clear();
    for (const slot of slots) slot.send({ kind: 'watch', isOn });
  };
  const figuresOfAll = () => [...latest.values()].map(({ figures }) => figures);
  const figuresOf = ({ worker, state, restarts }: Slot): WorkerFigures => ({
    worker,
    isUp: state === 'up',
    restarts,
    requests: latest.get(worker)?.figures.requests ?? 0,
    busy: gauges.of(worker, BUSY),
  });
  return {
    /** A worker came up: it must know whether a dashboard is open. */
    greet(slot: Slot) {
      if (watchers > 0) slot.send({ kind: 'watch', isOn: true });
    },
    /** A worker's latest figures; undefined: it has ended. */
    report(worker: number, seen: SeenByWorker | undefined) {
      if (seen === undefined) latest.delete(worker);
      else latest.set(worker, seen);
    },
    /** The outages that workers see: each name once, with the longest outage. */
    outages: (): readonly OpenOutage<OutageFailure>[] => {
      const longest = new Map<string, OpenOutage<OutageFailure>>();
      for (const outage of [...latest.values()].flatMap(({ outages }) => outages))
        if (outage.lastedMs > (longest.get(outage.name)?.lastedMs ?? -1))
          longest.set(outage.name, outage);
      return [...longest.values()];
    },
    /** The view for the dashboard: rules, gauges and response times are the owner's own. */
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
      // Each worker's last report, as it decays over some seconds.
      hot: (_seconds, most) => mergeHot(figuresOfAll(), most),
      take: () => ({
        ...mergeFigures(figuresOfAll(), own.take()),
        workers: slots.map(figuresOf),
      }),
    }),
  };
}
