import { setImmediate as turn } from 'node:timers/promises';
import type { Recorded } from './histogram';
import { type Registry, joinGauges } from './registry';
import { isFlushed, type Series, type GroupId, GROUPS } from './series';

/** The counts of one process since its last report; plain data, so that it can cross to another process. */
export interface Differences {
  readonly series: readonly SeriesDifference[];
  readonly timers: readonly TimerDifference[];
}

/** `by`: the growth of each figure, in the order of its group. */
type SeriesDifference = readonly [group: GroupId, path: string, by: readonly number[]];

/** The recordings of a timer; its maximum is that since the start. */
interface TimerDifference extends Recorded {
  readonly name: string;
}

/** Bounds the size of one message. */
const SERIES_OF_PART = 4_000;

/**
 * Reads the counts of a registry since the last call, in pieces with turns of the event loop between them. The registry must have
 * no other output: its counters and timers note what was read.
 */
export function createDifferences(registry: Registry): () => AsyncGenerator<Differences, void> {
  const named = new Set<string>();
  registry.keepUntilFlushed();
  // A counter that code names is shown from its start on, before it has counted anything.
  const isNew = ({ group, path }: Series) => group.id === 'counters' && !named.has(path);

  return async function* read() {
    let series: SeriesDifference[] = [];
    for (const one of registry.readSeries()) {
      if (one === undefined) {
        await turn();
        continue;
      }
      if (isFlushed(one) && !isNew(one)) continue;
      if (one.group.id === 'counters') named.add(one.path);
      if (series.push([one.group.id, one.path, taken(one)]) < SERIES_OF_PART) continue;
      yield { series, timers: [] };
      series = [];
    }
    const timers = [...registry.timers].flatMap(([name, timer]) => {
      const recorded = timer.take();
      return recorded === undefined ? [] : [{ name, ...recorded }];
    });
    yield { series, timers };
  };
}

function taken(series: Series): readonly number[] {
  return series.group.figures.map((_, index) => {
    const counter = series.at(index);
    if (counter === undefined) return 0;
    const by = counter.value - counter.flushedValue;
    counter.flushedValue = counter.value;
    return by;
  });
}

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
