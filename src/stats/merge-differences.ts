import type { Differences } from './differences';
import { joinGauges, type Registry } from './registry';
import { GROUPS, type GroupId } from './series-groups';

/** Adds the counts of another process. Totals only grow, even when that process ends. */
export function addDifferences(registry: Registry, { series, timers }: Differences): void {
  for (const [group, path, by] of series) {
    const hits = isSurplus(group, path) ? 0 : Math.max(by[0] ?? 0, 1);
    const grown = registry.seriesOf(group, path, hits);
    for (const [index, more] of by.entries()) grown.grow(index, more);
  }
  for (const { name, ...recorded } of timers) registry.timer(name).add(recorded);
}

/** Counts without room in the other process were marked as such there. */
const isSurplus = (group: GroupId, path: string) => path === GROUPS[group].overflowOf(path);

/** `unshown`: gauges that are read here but are not statistics. */
export function createMergedGauges(
  registry: Pick<Registry, 'gauge'>,
  unshown: ReadonlySet<string> = new Set(),
) {
  const reported = new Map<number, ReadonlyMap<string, number>>();
  const shown = new Map<string, () => void>();
  const valuesOf = (name: string): number[] =>
    [...reported.values()].flatMap((gauges) => gauges.get(name) ?? []);
  const read = (name: string): number => joinGauges(name, valuesOf(name));
  return {
    /** Replaces the report of one process; undefined: it has ended. */
    report(process: number, gauges: ReadonlyMap<string, number> | undefined) {
      if (gauges === undefined) reported.delete(process);
      else reported.set(process, gauges);
      for (const name of gauges?.keys() ?? [])
        if (!shown.has(name) && !unshown.has(name))
          shown.set(
            name,
            registry.gauge(name, () => read(name)),
          );
      for (const [name, remove] of shown) {
        if (valuesOf(name).length > 0) continue;
        remove();
        shown.delete(name);
      }
    },
    /** The last report of one process; undefined: it has no such gauge. */
    of: (process: number, name: string) => reported.get(process)?.get(name),
    /** The sum, or the worst, of all last reports; 0 where there are none. */
    read,
  };
}

/** The gauges of other processes, as gauges of this one. */
export type MergedGauges = ReturnType<typeof createMergedGauges>;
