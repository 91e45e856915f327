import type { NameOf } from '../registry';

/** The kind of a statistic; mappings may be for one kind only. */
export type StatisticKind = 'counter' | 'gauge' | 'timer';

/** How a timer is shown. Bounds and quantiles ascend; bounds are in the shown unit. */
export type TimerShape =
  | { readonly type: 'histogram'; readonly bounds: readonly number[] }
  | { readonly type: 'summary'; readonly quantiles: readonly number[] };

/** A text with `$1`, `${1}`… that is filled with the groups of a pattern. */
export type Template = (groups: readonly (string | undefined)[]) => string;

/** How the statistics that match a pattern are shown. */
export interface Mapping {
  /** The groups of the pattern, `[whole, $1, $2, …]`; undefined when it does not match. */
  readonly match: (name: string) => readonly (string | undefined)[] | undefined;
  readonly kind: StatisticKind | undefined;
  /** True: not shown. Then the rest is ignored. */
  readonly drop: boolean;
  readonly name: Template;
  readonly help: string | undefined;
  readonly labels: readonly (readonly [name: string, value: Template])[];
  readonly timer: TimerShape;
  readonly scale: number;
}

/** The mapping of a statistic, and the groups of its pattern; undefined where none matches. */
export type FindMapping = (
  name: string,
  kind: StatisticKind,
) => { readonly mapping: Mapping; readonly groups: readonly (string | undefined)[] } | undefined;

export interface MappingSet {
  readonly find: FindMapping;
  /** Units of a timer's value per second, before a mapping's own `scale`: 1000 feeds milliseconds in. */
  readonly unitsPerSecond: 1 | 1000;
  /** How timers without a mapping are shown. */
  readonly unmappedTimer: TimerShape;
  /** The name that `find` gets for refusals by one of several limits; undefined: their own name. */
  readonly nameOfLimit?: NameOf;
}

/** Bounds for a file that has none, in the shown unit: those of Prometheus' client for Go. */
export const DEFAULT_BOUNDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export const DEFAULT_QUANTILES: readonly number[] = [0.5, 0.9, 0.99];

export function firstMapping(mappings: readonly Mapping[]): FindMapping {
  return (name, kind) => {
    for (const mapping of mappings) {
      if (mapping.kind !== undefined && mapping.kind !== kind) continue;
      const groups = mapping.match(name);
      if (groups !== undefined) return { mapping, groups };
    }
    return undefined;
  };
}

const REFERENCE = /\$\{?(\d+)\}?/g;

export function template(text: string): Template {
  if (!text.includes('$')) return () => text;
  return (groups) => text.replace(REFERENCE, (_, group: string) => groups[Number(group)] ?? '');
}

/** A valid name of a metric: invalid characters become `_`. */
export function metricName(text: string): string {
  const name = text.replace(/[^a-zA-Z0-9_:]/g, '_');
  return /^\d/.test(name) ? `_${name}` : name;
}

/** A valid name of a label. */
export function labelName(text: string): string {
  return metricName(text).replaceAll(':', '_');
}

/** A pattern of statsd_exporter: `*` matches one segment between dots. */
export function globMatch(pattern: string): Mapping['match'] {
  const parts = pattern.split('.');
  const last = parts.length - 1;
  return (name) => {
    const segments = name.split('.');
    if (segments.length !== parts.length) return undefined;
    const groups = [name];
    // From the end: names differ most in their statistic.
    for (let at = last; at >= 0; at -= 1)
      if (parts[at] !== '*' && parts[at] !== segments[at]) return undefined;
    for (const [at, part] of parts.entries()) if (part === '*') groups.push(segments[at] as string);
    return groups;
  };
}
