import { quote, type Located } from '../fields/located';
import { isError, problemText, type RuleProblem } from '../fields/problem';
import { createReport, type Report } from '../fields/report';
import {
  readMapDescriptors,
  type KnownNames,
  MapFields,
  type MapDescriptor,
  type RequestFacts,
  type RequestField,
} from '../request-maps/request-map';
import { readRuleFile } from '../rule-sources/yaml/read-rule-file';
import {
  TIME_FORMATS,
  type TimeFormat,
  type ReadRecord,
  UnreadableLine,
  type LogRecord,
  readTime,
} from './log-record';
import {
  COMBINED_NAMES,
  readCombinedLine,
  ENVOY_TEXT,
  ISTIO_TEXT,
  parseObject,
  readRequestLine,
} from './log-formats';
import { readMap } from './files';
import type { LogFormat, SimulateOptions } from './options';
import { makeDescriptors } from '../request-maps/make-descriptors';
import { withoutPort } from '../platform/proxy-hops';

/** How lines of an access log become requests. */
interface LogMap {
  readonly domain: string;
  readonly time: { readonly field: string; readonly format: TimeFormat };
  readonly descriptors: readonly MapDescriptor[];
}

/** An invalid map file: every mistake with its place, one line each. */
export class MapFileError extends Error {
  override readonly name = 'MapFileError';
}

/** Any name: lines of JSON may have any fields. */
export const ANY_NAMES: KnownNames = { fields: undefined, headers: undefined };

/**
 * Reads a map file (docs/simulate/README.md). Throws `MapFileError`.
 * @param file its name, for messages
 */
export function parseMapFile(file: string, text: string, known: KnownNames): LogMap {
  const { root, problems: ofSyntax } = readRuleFile(file, text);
  const problems: RuleProblem[] = [...ofSyntax];
  const report = createReport(file, problems);
  const read = problems.some(isError) ? undefined : readLogMap(root, known, report);
  const mistakes = problems.filter(isError);
  if (read === undefined || mistakes.length > 0)
    throw new MapFileError(mistakes.map(problemText).join('\n'));
  return read;
}

function readLogMap(
  root: Located | undefined,
  known: KnownNames,
  report: Report,
): LogMap | undefined {
  if (root?.kind !== 'map') {
    const at = root?.at ?? { line: 1, column: 1 };
    report.error(at, 'wrong-type', 'expected a map with domain, time and descriptors');
    return undefined;
  }
  const map = new MapFields(root, 'in a map', ['domain', 'time', 'descriptors'], report);
  return {
    domain: map.text('domain') ?? '',
    time: readTimeOf(map, known),
    descriptors: readMapDescriptors(map, known),
  };
}

function readTimeOf(map: MapFields, { fields }: KnownNames): LogMap['time'] {
  const time = map.fieldsOf('time', 'in time', ['field', 'format']);
  const field = time?.text('field') ?? '';
  if (field !== '' && fields?.includes(field) === false)
    time?.refuse('field', `field ${quote(field)} is not one of ${fields.join(', ')}`);
  return { field, format: time?.oneOf('format', TIME_FORMATS) ?? 'rfc3339' };
}

const MAX_FIELDS_SHOWN = 20;
const MAX_NAME_SHOWN = 60;

export interface LogReader {
  readonly readRecord: ReadRecord;
  /** Names of the fields of the first line; empty where no map uses them. */
  readonly firstFields: readonly string[];
  /** Fields of the map that no line had so far, where lines may have any field. */
  readonly missing: () => readonly string[];
}

type ToFields = (line: string) => LineFields;

const FORMATS: Readonly<
  Record<Exclude<LogFormat, 'jsonl'>, { readonly toFields: ToFields; readonly known: KnownNames }>
> = {
  json: { toFields: parseObject, known: ANY_NAMES },
  'envoy-json': { toFields: parseObject, known: ANY_NAMES },
  'envoy-text': ENVOY_TEXT,
  'istio-text': ISTIO_TEXT,
  combined: { toFields: readCombinedLine, known: COMBINED_NAMES },
};

/** How the lines of the log become requests. Rejects where the map cannot be used. */
export async function createLogReader({ format, map }: SimulateOptions): Promise<LogReader> {
  if (map === undefined || format === 'jsonl')
    return { readRecord: readRequestLine, firstFields: [], missing: () => [] };
  const { toFields, known } = FORMATS[format];
  const log = parseMapFile(map, await readMap(map), known);
  const firstFields: string[] = [];
  const missing = known.fields === undefined ? new MissingFields(log) : undefined;
  const readRecord: ReadRecord = (line) => {
    const fields = toFields(line);
    if (firstFields.length === 0) firstFields.push(...namesOf(fields));
    return applyMap(log, fields, missing);
  };
  return { readRecord, firstFields, missing: () => missing?.texts() ?? [] };
}

function namesOf(fields: object): readonly string[] {
  const names = Object.keys(fields).slice(0, MAX_FIELDS_SHOWN);
  return names.map((name) => name.slice(0, MAX_NAME_SHOWN));
}

/**
 * The request that a proxy would have sent for a line; undefined: no descriptor was left. Throws `UnreadableLine` where the line
 * has no time.
 */
export function applyMap(
  { domain, time, descriptors }: LogMap,
  fields: LineFields,
  missing?: MissingFields,
): LogRecord | undefined {
  const facts = new LogFacts(fields);
  missing?.note(facts);
  const made = makeDescriptors(descriptors, facts);
  const written = facts.find(time.field);
  if (written === undefined) throw new UnreadableLine(`the time field "${time.field}" is missing`);
  const timeSeconds = readTime(written, time.format);
  if (made.length === 0) return undefined;
  return { timeSeconds, request: { domain, descriptors: made, hitsAddend: 0 } };
}

type LineFields = Readonly<Record<string, unknown>>;

/** Other names of a request's fields in logs (docs/simulate/README.md). */
const OTHER_NAMES: Readonly<Partial<Record<RequestField, readonly string[]>>> = {
  host: ['authority'],
  remote_address: ['remote_addr', 'downstream_remote_address'],
};

class LogFacts implements RequestFacts {
  readonly #fields: LineFields;

  constructor(fields: LineFields) {
    this.#fields = fields;
  }

  field(name: string): string | undefined {
    const own = this.#text(name);
    if (own !== undefined) return own;
    if (name === 'query') return queryOf(this.#text('path'));
    for (const other of OTHER_NAMES[name as RequestField] ?? []) {
      const value = this.#text(other);
      if (value !== undefined) return name === 'remote_address' ? withoutPort(value) : value;
    }
    return undefined;
  }

  /** Whether the line has the field at all, even as a dash or empty. */
  hasField(name: string): boolean {
    const others = name === 'query' ? ['path'] : (OTHER_NAMES[name as RequestField] ?? []);
    return [name, ...others].some((each) => this.find(each) !== undefined);
  }

  hasHeader(name: string): boolean {
    return namesOfHeader(name).some((each) => this.find(each) !== undefined);
  }

  /** The places of a header in logs: in `headers`, under its own name, or as nginx writes it (`http_user_agent`). */
  header(name: string): string | undefined {
    const [among, own, nginx] = namesOfHeader(name);
    return this.#text(among) ?? this.#text(own) ?? this.#text(nginx);
  }

  /** A field by its whole name, else by the path of its dots; undefined when missing. */
  find(name: string): unknown {
    if (Object.hasOwn(this.#fields, name)) return this.#fields[name];
    let value: unknown = this.#fields;
    for (const part of name.split('.')) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part))
        return undefined;
      value = (value as LineFields)[part];
    }
    return value;
  }

  /** Envoy and nginx write a dash for an unknown value. */
  #text(name: string): string | undefined {
    const value = this.find(name);
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    return typeof value === 'string' && value !== '' && value !== '-' ? value : undefined;
  }
}

function namesOfHeader(name: string): readonly [among: string, own: string, nginx: string] {
  return [`headers.${name}`, name, `http_${name.replaceAll('-', '_')}`];
}

function queryOf(path: string | undefined): string | undefined {
  const at = path?.indexOf('?') ?? -1;
  return at === -1 ? undefined : path?.slice(at + 1);
}

/** The fields that a map uses, by their words in a report. */
interface Asked {
  readonly text: string;
  readonly isIn: (facts: LogFacts) => boolean;
}

/** Notes which of the fields and headers that a map uses occur in no line. */
class MissingFields {
  #left: readonly Asked[];
  #lines = 0;

  constructor(map: LogMap) {
    const asked = new Map<string, Asked>();
    const ask = (one: Asked) => asked.set(one.text, one);
    for (const { when, entries } of map.descriptors) {
      if (when !== undefined) ask(askField(when.field));
      for (const { source } of entries) {
        if (source.kind === 'field' || source.kind === 'masked_address')
          ask(askField(source.field));
        if (source.kind === 'header') ask(askHeader(source.name));
        if (source.kind === 'cookie') ask(askHeader('cookie'));
        if (source.kind === 'parameter') ask(askField('query'));
      }
    }
    this.#left = [...asked.values()];
  }

  note(facts: LogFacts): void {
    this.#lines += 1;
    if (this.#left.some(({ isIn }) => isIn(facts)))
      this.#left = this.#left.filter(({ isIn }) => !isIn(facts));
  }

  /** `field "tenant"`, `header "x-user"`; none where there was no line. */
  texts(): readonly string[] {
    return this.#lines === 0 ? [] : this.#left.map(({ text }) => text);
  }
}

function askField(name: string): Asked {
  return { text: `field ${JSON.stringify(name)}`, isIn: (facts) => facts.hasField(name) };
}

function askHeader(name: string): Asked {
  return { text: `header ${JSON.stringify(name)}`, isIn: (facts) => facts.hasHeader(name) };
}
