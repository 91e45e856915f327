import { setImmediate as turn } from 'node:timers/promises';
import type { Recorded } from './histogram';
import type { Registry } from './registry';
import { isFlushed, type Series } from './series';
import type { GroupId } from './series-groups';

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
