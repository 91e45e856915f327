import type { Registry } from '../../src/stats/registry';
import type { Counter } from '../../src/stats/series';

/** Every counter by its complete name. */
export function* readCounters(
  registry: Pick<Registry, 'readSeries'>,
): Generator<readonly [name: string, counter: Counter], void> {
  for (const series of registry.readSeries()) {
    for (const [index, figure] of series?.group.figures.entries() ?? []) {
      const counter = series?.at(index);
      if (series !== undefined && counter !== undefined)
        yield [series.group.nameOf(series.path, figure), counter];
    }
  }
}
