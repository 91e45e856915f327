import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import type { Logger } from '../../platform/logger';
import { compilePattern } from '../../platform/pattern';
import { rememberByName } from '../names';
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
  builtInMapping,
} from './mapping';
import {
  fieldOf,
  readFile,
  readMapping,
  readType,
  type DefaultFields,
  type MappingFields,
} from './mapping-fields';

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

type Found = Mapping & { readonly isGlob: boolean };

/** Reads a mapping file of statsd_exporter. As there, globs precede regular expressions. */
export function parseMapping(text: string): ParsedMapping {
  const document = parseDocument(text);
  if (document.errors.length > 0)
    return { ok: false, problems: document.errors.map(({ message }) => oneLine(message)) };
  const problems: string[] = [];
  const file = readFile(fieldOf(toPlain(document, problems), 'the file', problems));
  const defaults = toDefaults(file.defaults, { path: 'the file: defaults', problems });
  const found = file.mappings.map((value, at) =>
    toMapping(value, defaults, { path: `mapping ${String(at + 1)}`, problems }),
  );
  if (problems.length > 0) return { ok: false, problems };
  const known = found.filter((one) => one !== undefined);
  const patterns = known.filter((m) => !m.isGlob);
  const plain = firstMapping([...known.filter((m) => m.isGlob), ...patterns]);
  const find = patterns.length === 0 ? plain : remembered(plain);
  // The reference passes milliseconds to a file's mappings, which scale them to the shown unit.
  return { ok: true, mapping: { find, unitsPerSecond: 1000, unmappedTimer: defaults.timer } };
}

/** Regular expressions cost microseconds per name, and every scrape looks up all names. */
function remembered(find: FindMapping): FindMapping {
  const counter = rememberByName((name) => find(name, 'counter'));
  const gauge = rememberByName((name) => find(name, 'gauge'));
  const timer = rememberByName((name) => find(name, 'timer'));
  const byKind = { counter, gauge, timer };
  return (name, kind) => byKind[kind](name);
}

function toPlain(document: ReturnType<typeof parseDocument>, problems: string[]): unknown {
  try {
    return document.toJS() as unknown;
  } catch (error) {
    problems.push(error instanceof Error ? oneLine(error.message) : String(error));
    return undefined;
  }
}

/** A map of the file, and the list for its mistakes. */
interface Place {
  readonly path: string;
  readonly problems: string[];
}

/** The fields that a mapping inherits from `defaults`. */
function toDefaults(fields: DefaultFields, at: Place) {
  const base = { type: 'summary' as const, bounds: DEFAULT_BOUNDS, quantiles: DEFAULT_QUANTILES };
  const { type, bounds, quantiles } = toTimer(fields, base, at);
  const matchType = fields.match_type ?? 'glob';
  return { matchType, bounds, quantiles, timer: shape(type, bounds, quantiles) };
}

interface TimerFields {
  readonly type: TimerShape['type'];
  readonly bounds: readonly number[];
  readonly quantiles: readonly number[];
}

function toTimer(
  fields: DefaultFields | MappingFields,
  base: TimerFields,
  { path, problems }: Place,
): TimerFields {
  const { histogram_options: histogram, summary_options: summary } = fields;
  const former = toQuantiles(fields.quantiles, { path, problems });
  const ofSummary = toQuantiles(summary.quantiles, { path: `${path}: summary_options`, problems });
  return {
    type: fields.observer_type ?? readType(fields.timer_type) ?? base.type,
    bounds: histogram.buckets ?? fields.buckets ?? base.bounds,
    quantiles: ofSummary ?? former ?? base.quantiles,
  };
}

function toQuantiles(
  list: readonly unknown[],
  { path, problems }: Place,
): readonly number[] | undefined {
  if (list.length === 0) return undefined;
  return list.map((value) => {
    const quantile = typeof value === 'object' && value !== null ? value : { quantile: value };
    const share = 'quantile' in quantile ? Number(quantile.quantile) : NaN;
    if (!(share >= 0 && share <= 1)) problems.push(`${path}: a quantile is not between 0 and 1`);
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

type Defaults = ReturnType<typeof toDefaults>;

function toMapping(value: unknown, defaults: Defaults, at: Place): Found | undefined {
  const fields = readMapping(fieldOf(value, at.path, at.problems));
  const problem = (text: string) => at.problems.push(`${at.path}: ${text}`);
  const isGlob = (fields.match_type ?? defaults.matchType) === 'glob';
  const match = toMatch(fields.match, isGlob, problem);
  const timer = toTimer(fields, { ...defaults, type: defaults.timer.type }, at);
  const { match_metric_type: kind, name = '', help, scale = 1 } = fields;
  const labels = toLabels(fields.labels, problem);
  const drop = fields.action === 'drop';
  if (!drop && name === '') problem('expected a name');
  return (
    match && {
      isGlob,
      match,
      drop,
      kind: kind && KINDS[kind],
      name: template(name),
      help: help === '' ? undefined : help,
      labels,
      timer: shape(timer.type, timer.bounds, timer.quantiles),
      scale,
    }
  );
}

function toLabels(
  labels: MappingFields['labels'],
  problem: (text: string) => void,
): Mapping['labels'] {
  for (const [name] of labels)
    if (name !== labelName(name) || name === 'le' || name === 'quantile')
      problem(`"${name}" is not a valid label name`);
  return labels.map(([name, value]) => [name, template(value)] as const);
}

function toMatch(
  pattern = '',
  isGlob: boolean,
  problem: (text: string) => void,
): Mapping['match'] | undefined {
  if (pattern === '') {
    problem('expected a match');
    return undefined;
  }
  if (isGlob) {
    const isWhole = pattern.split('.').every((part) => part === '*' || !part.includes('*'));
    if (!isWhole) problem(`match is "${pattern}", expected * between dots only`);
    return globMatch(pattern);
  }
  try {
    return compilePattern(pattern);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problem(`match is "${pattern}", expected a regular expression (${reason})`);
    return undefined;
  }
}

function oneLine(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}
