import { type Histogram, mergedHistogram } from '../histogram';
import type { Tags } from '../names';
import type { Registry } from '../registry';
import type { Series } from '../series';
import {
  labelName,
  type MappingSet,
  metricName,
  type StatisticKind,
  type TimerShape,
} from './mapping';

/** One timer under one set of labels. */
export interface TimerSeries {
  readonly histogram: Histogram;
  /** Factor from milliseconds to the shown unit. */
  readonly scale: number;
  readonly shape: TimerShape;
}

/**
 * One metric: all series of a name. Series are keyed by the text after the name: their labels, `{a="b"}` or nothing, preceded by
 * the suffix of a process metric.
 */
export interface Family {
  readonly name: string;
  readonly help: string | undefined;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly series: Map<string, number | TimerSeries>;
}

/** A value from outside the registry: of the process, of the build. */
export interface ProcessMetric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels?: Tags;
  /** For a histogram: `_bucket`, `_sum` or `_count`. */
  readonly suffix?: string;
  readonly value: number;
}

export interface FamiliesOptions {
  readonly mapping: MappingSet;
  /** Labels of every series; those of a mapping win. */
  readonly extraTags: Tags;
}

/** All metrics of a moment, gathered in steps of a fraction of a millisecond: other work can run between two of them. */
export function* gatherFamilies(
  registry: Registry,
  processMetrics: readonly ProcessMetric[],
  options: FamiliesOptions,
): Generator<void, readonly Family[]> {
  const families = new Families(options);
  for (const series of registry.readSeries()) {
    if (series === undefined) yield;
    else families.addSeries(series);
  }
  for (const [name, value] of registry.readGauges()) families.addValue('gauge', name, value);
  for (const [name, histogram] of registry.timers) families.addTimer(name, histogram);
  for (const metric of processMetrics) families.addProcessMetric(metric);
  return families.all();
}

class Families {
  readonly #byName = new Map<string, Family>();
  readonly #options: FamiliesOptions;
  readonly #extra: readonly (readonly [string, string])[];
  #conflicts = 0;

  constructor(options: FamiliesOptions) {
    this.#options = options;
    // The last of the tags whose names become equal wins.
    const extra = new Map<string, string>();
    for (const [tag, value] of Object.entries(options.extraTags)) extra.set(tagName(tag), value);
    this.#extra = [...extra];
  }

  addSeries(series: Series): void {
    const { group, path } = series;
    const { families } = this.#options.mapping;
    const labels = families && group.labelsOf(path);
    const at = labels && this.#labels(labels);
    for (const [index, figure] of group.figures.entries()) {
      const value = series.at(index)?.value;
      if (value === undefined) continue;
      const family = families?.get(figure);
      const name = () => family?.nameOf?.(path) ?? group.nameOf(path, figure);
      if (family === undefined || at === undefined) this.addValue('counter', name(), value);
      else this.#sum(family, at, value);
    }
  }

  addValue(kind: 'counter' | 'gauge', statistic: string, value: number): void {
    const shown = this.#shown(statistic, kind);
    if (shown === undefined) return;
    const { name, help, labels, scale } = shown;
    this.#sum({ name, help, type: kind }, labels, value * scale);
  }

  addTimer(statistic: string, histogram: Histogram): void {
    const shown = this.#shown(statistic, 'timer');
    if (shown === undefined) return;
    const { name, help, labels, timer } = shown;
    const scale = (shown.scale * this.#options.mapping.unitsPerSecond) / 1000;
    const family = this.#family({ name, help, type: timer.type });
    const known = family.series.get(labels);
    if (family.type !== timer.type || typeof known === 'number') {
      this.#conflicts += 1;
      return;
    }
    const all = known === undefined ? histogram : mergedHistogram(known.histogram, histogram);
    family.series.set(labels, { histogram: all, scale, shape: timer });
  }

  addProcessMetric({ name, help, type, labels = {}, suffix = '', value }: ProcessMetric): void {
    this.#sum({ name, help, type }, suffix + this.#labels(Object.entries(labels)), value);
  }

  all(): readonly Family[] {
    const help = 'series left out because a metric of the same name has another type';
    const name = 'weir_metrics_conflicts';
    if (this.#conflicts > 0)
      this.addProcessMetric({ name, help, type: 'gauge', value: this.#conflicts });
    return [...this.#byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #sum(of: Pick<Family, 'name' | 'help' | 'type'>, at: string, by: number): void {
    const family = this.#family(of);
    const known = family.series.get(at) ?? 0;
    if (family.type !== of.type || typeof known !== 'number') this.#conflicts += 1;
    else family.series.set(at, known + by);
  }

  #family(of: Pick<Family, 'name' | 'help' | 'type'>): Family {
    const known = this.#byName.get(of.name);
    if (known !== undefined) return known;
    const { name, help, type } = of;
    const created: Family = { name, help, type, series: new Map() };
    this.#byName.set(of.name, created);
    return created;
  }

  /** The shown name, labels and shape of a statistic; undefined: it is not shown. */
  #shown(statistic: string, kind: StatisticKind) {
    const { mapping: set } = this.#options;
    const found = set.find(statistic, kind);
    if (found === undefined) {
      const name = metricName(statistic);
      return {
        name,
        help: undefined,
        labels: this.#labels([]),
        scale: 1,
        timer: set.unmappedTimer,
      };
    }
    const { mapping, groups } = found;
    if (mapping.drop) return undefined;
    const labels = mapping.labels.map(([name, value]) => [name, value(groups)] as const);
    return {
      name: metricName(mapping.name(groups)),
      help: mapping.help,
      labels: this.#labels(labels),
      scale: mapping.scale,
      timer: mapping.timer,
    };
  }

  /** Labels as they are written. An empty one is omitted. */
  #labels(own: readonly (readonly [string, string])[]): string {
    const all = own.filter(([, value]) => value !== '');
    for (const [name, value] of this.#extra)
      if (value !== '' && !own.some(([taken]) => taken === name)) all.push([name, value]);
    if (all.length === 0) return '';
    return `{${all.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',')}}`;
  }
}

/** `le` and `quantile` belong to timers. */
function tagName(tag: string): string {
  const name = labelName(tag);
  return name === 'le' || name === 'quantile' ? `tag_${name}` : name;
}

function escapeLabel(value: string): string {
  if (!/["\\\n]/.test(value)) return value;
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
