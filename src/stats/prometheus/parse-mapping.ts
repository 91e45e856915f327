import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import type { Logger } from '../../platform/logger/logger';
import { compilePattern } from '../../platform/pattern';
import { rememberByName } from '../remember-by-name';
import { builtInMapping } from './built-in-mapping';
import {
  DEFAULT_BOUNDS,
  DEFAULT_QUANTILES,
  type FindMapping,
  firstMapping,
  globMatch,
  labelName,
  type Mapping,
  type MappingSet,
  template,
  type TimerShape,
} from './mapping';
import { YamlFields, type Problems } from './yaml-fields';

interface LoadMappingDeps {
  readonly logger: Pick<Logger, 'error'>;
  /** PULLMETRICS_RESPONSE_TIME_AS_MILLISECONDS, for the built-in mapping; a file always gets milliseconds. */
  readonly inMilliseconds: boolean;
}

/** The mapping of a file; the built-in one, and an error in the log, when the file cannot be used (behaviour.md §6.4). */
export function loadMapping(file: string | undefined, deps: LoadMappingDeps): MappingSet {
  const builtIn = builtInMapping(deps.inMilliseconds ? 1000 : 1);
  if (file === undefined) return builtIn;
  const problems: string[] = [];
  try {
    const parsed = parseMapping(readFileSync(file, 'utf8'));
    if (parsed.ok) return parsed.mapping;
    problems.push(...parsed.problems);
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  deps.logger.error(`the mapping file ${file} is not used, the built-in mapping is`, { problems });
  return builtIn;
}

export type ParsedMapping =
  | { readonly ok: true; readonly mapping: MappingSet }
  | { readonly ok: false; readonly problems: readonly string[] };

/** What a mapping inherits from `defaults`. */
interface Defaults {
  readonly matchType: 'glob' | 'regex';
  readonly timer: TimerShape;
  readonly bounds: readonly number[];
  readonly quantiles: readonly number[];
}

type Found = Mapping & { readonly isGlob: boolean };

/** Reads a mapping file of statsd_exporter. As there, globs go before regular expressions. */
export function parseMapping(text: string): ParsedMapping {
  const document = parseDocument(text);
  if (document.errors.length > 0)
    return { ok: false, problems: document.errors.map(({ message }) => oneLine(message)) };
  const problems: Problems = [];
  const file = new YamlFields(toPlain(document, problems), 'the file', problems);
  const defaults = readDefaults(file.fields('defaults'));
  const found = file
    .list('mappings')
    .map((value, at) => readOneMapping(value, at, defaults, problems));
  file.end();
  if (problems.length > 0) return { ok: false, problems };
  const known = found.filter((one) => one !== undefined);
  const patterns = known.filter((m) => !m.isGlob);
  const plain = firstMapping([...known.filter((m) => m.isGlob), ...patterns]);
  const find = patterns.length === 0 ? plain : remembered(plain);
  // The reference hands milliseconds to a file's mappings, which scale them to what they show.
  return { ok: true, mapping: { find, unitsPerSecond: 1000, unmappedTimer: defaults.timer } };
}

/** Regular expressions cost microseconds a name, and every scrape asks for all names. */
function remembered(find: FindMapping): FindMapping {
  const counter = rememberByName((name) => find(name, 'counter'));
  const gauge = rememberByName((name) => find(name, 'gauge'));
  const timer = rememberByName((name) => find(name, 'timer'));
  const byKind = { counter, gauge, timer };
  return (name, kind) => byKind[kind](name);
}

function toPlain(document: ReturnType<typeof parseDocument>, problems: Problems): unknown {
  try {
    return document.toJS() as unknown;
  } catch (error) {
    problems.push(error instanceof Error ? oneLine(error.message) : String(error));
    return undefined;
  }
}

function readDefaults(fields: YamlFields): Defaults {
  const base = { type: 'summary' as const, bounds: DEFAULT_BOUNDS, quantiles: DEFAULT_QUANTILES };
  const matchType = fields.oneOf('match_type', ['glob', 'regex']) ?? 'glob';
  const { type, bounds, quantiles } = readTimer(fields, base);
  // Globs are always tried in the order of the file; series go when room is needed, not by time.
  fields.take('glob_disable_ordering');
  fields.take('ttl');
  fields.end();
  return { matchType, bounds, quantiles, timer: shape(type, bounds, quantiles) };
}

interface TimerFields {
  readonly type: TimerShape['type'];
  readonly bounds: readonly number[];
  readonly quantiles: readonly number[];
}

function readTimer(fields: YamlFields, base: TimerFields): TimerFields {
  const types = ['histogram', 'summary'] as const;
  const histogram = fields.fields('histogram_options');
  const summary = fields.fields('summary_options');
  const former = { bounds: fields.bounds('buckets'), quantiles: readQuantiles(fields) };
  const observer = fields.oneOf('observer_type', types);
  const timer = {
    type: observer ?? fields.oneOf('timer_type', types) ?? base.type,
    bounds: histogram.bounds('buckets') ?? former.bounds ?? base.bounds,
    quantiles: readQuantiles(summary) ?? former.quantiles ?? base.quantiles,
  };
  // Ours are made from all samples since the start.
  for (const name of ['max_age', 'age_buckets', 'buf_cap']) summary.take(name);
  for (const name of ['native_histogram_bucket_factor', 'native_histogram_max_buckets'])
    histogram.take(name);
  fields.take('timer_type');
  histogram.end();
  summary.end();
  return timer;
}

function readQuantiles(fields: YamlFields): readonly number[] | undefined {
  const list = fields.list('quantiles');
  if (list.length === 0) return undefined;
  return list.map((value) => {
    const quantile = typeof value === 'object' && value !== null ? value : { quantile: value };
    const share = 'quantile' in quantile ? Number(quantile.quantile) : NaN;
    if (!(share >= 0 && share <= 1)) fields.problem('a quantile is not between 0 and 1');
    return share;
  });
}

function shape(
  type: TimerShape['type'],
  bounds: readonly number[],
  quantiles: readonly number[],
): TimerShape {
  return type === 'histogram' ? { type, bounds } : { type, quantiles };
}

const KINDS = { counter: 'counter', gauge: 'gauge', observer: 'timer', timer: 'timer' } as const;

function readOneMapping(
  value: unknown,
  at: number,
  defaults: Defaults,
  problems: Problems,
): Found | undefined {
  const fields = new YamlFields(value, `mapping ${String(at + 1)}`, problems);
  const isGlob = (fields.oneOf('match_type', ['glob', 'regex']) ?? defaults.matchType) === 'glob';
  const match = readMatch(fields, isGlob);
  const drop = fields.oneOf('action', ['map', 'drop']) === 'drop';
  const kind = fields.oneOf('match_metric_type', ['counter', 'gauge', 'observer', 'timer']);
  const name = fields.text('name');
  const { type, bounds, quantiles } = readTimer(fields, { ...defaults, type: defaults.timer.type });
  const scale = fields.number('scale');
  const help = fields.text('help');
  const labels = readLabels(fields);
  fields.take('ttl');
  fields.take('honor_labels');
  fields.end();
  if (!drop && (name === undefined || name === '')) fields.problem('expected a name');
  if (match === undefined) return undefined;
  return {
    isGlob,
    match,
    drop,
    kind: kind && KINDS[kind],
    name: template(name ?? ''),
    help: help === '' ? undefined : help,
    labels,
    timer: shape(type, bounds, quantiles),
    scale: scale ?? 1,
  };
}

function readMatch(fields: YamlFields, isGlob: boolean): Mapping['match'] | undefined {
  const pattern = fields.text('match');
  if (pattern === undefined || pattern === '') {
    fields.problem('expected a match');
    return undefined;
  }
  if (isGlob) {
    const isWhole = pattern.split('.').every((part) => part === '*' || !part.includes('*'));
    if (!isWhole) fields.problem(`match is "${pattern}", expected * between dots only`);
    return globMatch(pattern);
  }
  try {
    return compilePattern(pattern);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    fields.problem(`match is "${pattern}", expected a regular expression (${reason})`);
    return undefined;
  }
}

function readLabels(fields: YamlFields): Mapping['labels'] {
  const labels = fields.fields('labels').texts();
  for (const [name] of labels)
    if (name !== labelName(name) || name === 'le' || name === 'quantile')
      fields.problem(`"${name}" is not a valid label name`);
  return labels.map(([name, value]) => [name, template(value)] as const);
}

function oneLine(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}
