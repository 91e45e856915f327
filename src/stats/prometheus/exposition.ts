import { quantile, type Sample, samplesSince } from '../histogram';
import type { Family, TimerSeries } from './families';

/**
 * `text` is Prometheus' own (version 0.0.4), `openmetrics` is OpenMetrics 1.0. The names are the same in both: a counter whose name
 * does not end in `_total` is of type `unknown` in OpenMetrics, which allows no counter with such a name.
 */
export type Format = 'text' | 'openmetrics';

export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

const TOTAL = '_total';

/** The lines of all metrics, one piece for each series. */
export function* exposition(families: readonly Family[], format: Format): Generator<string, void> {
  const names = new Set(families.map(({ name }) => name));
  for (const family of families) {
    yield* header(family, format, names);
    const { name } = family;
    for (const [labels, value] of family.series) {
      if (typeof value !== 'number') yield timerLines(name, labels, value, format);
      else if (family.type === 'histogram')
        yield `${name}${fractionalBound(labels, format)} ${number(value)}\n`;
      else yield `${name}${labels} ${number(value)}\n`;
    }
  }
  if (format === 'openmetrics') yield '# EOF\n';
}

function* header(
  { name, type, help }: Family,
  format: Format,
  names: ReadonlySet<string>,
): Generator<string, void> {
  const isOpen = format === 'openmetrics';
  const base = isOpen && type === 'counter' && name.endsWith(TOTAL) ? name.slice(0, -6) : name;
  const isCounter = type !== 'counter' || !isOpen || (base !== name && !names.has(base));
  const family = isCounter ? base : name;
  if (help !== undefined) yield `# HELP ${family} ${escapeHelp(help, isOpen)}\n`;
  yield `# TYPE ${family} ${isCounter ? type : 'unknown'}\n`;
}

function timerLines(name: string, labels: string, timer: TimerSeries, format: Format): string {
  const { histogram, scale, shape } = timer;
  const samples = samplesSince(histogram.counts, undefined).map(({ milliseconds, ...rest }) => ({
    ...rest,
    milliseconds: milliseconds * scale,
  }));
  const label = (key: string, value: number) => withLabel(labels, key, boundText(value, format));
  const count = number(histogram.count);
  let lines = '';
  if (shape.type === 'histogram') {
    for (const [bound, below] of cumulated(samples, shape.bounds))
      lines += `${name}_bucket${label('le', bound)} ${number(below)}\n`;
    lines += `${name}_bucket${label('le', Infinity)} ${count}\n`;
  } else {
    for (const share of shape.quantiles) {
      const value = samples.length === 0 ? NaN : quantile(samples, share);
      lines += `${name}${label('quantile', share)} ${number(Number(value.toPrecision(4)))}\n`;
    }
  }
  const sum = number(histogram.sumMilliseconds * scale);
  return `${lines}${name}_sum${labels} ${sum}\n${name}_count${labels} ${count}\n`;
}

/** The number of samples that do not exceed each bound: exact up to the half percent of a bucket. */
function* cumulated(samples: readonly Sample[], bounds: readonly number[]) {
  let below = 0;
  let at = 0;
  for (const bound of bounds) {
    for (let sample = samples[at]; sample !== undefined; sample = samples[at]) {
      if (sample.milliseconds > bound) break;
      below += sample.times;
      at += 1;
    }
    // An infinite bound is written once, at the end.
    if (bound !== Infinity) yield [bound, below] as const;
  }
}

function withLabel(labels: string, name: string, value: string): string {
  const own = `${name}="${value}"`;
  return labels === '' ? `{${own}}` : `${labels.slice(0, -1)},${own}}`;
}

/** The bound in labels that are written for the text format. */
function fractionalBound(labels: string, format: Format): string {
  return format === 'openmetrics' ? labels.replace(/\ble="(\d+)"/, 'le="$1.0"') : labels;
}

/** OpenMetrics writes bounds as fractions. */
function boundText(bound: number, format: Format): string {
  const text = number(bound);
  return format === 'openmetrics' && /^\d+$/.test(text) ? `${text}.0` : text;
}

function number(value: number): string {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  return value.toString();
}

function escapeHelp(help: string, isOpen: boolean): string {
  const text = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return isOpen ? text.replaceAll('"', '\\"') : text;
}
