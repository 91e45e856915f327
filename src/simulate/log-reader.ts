import { COMBINED_NAMES, readCombinedLine } from './combined-log';
import { ENVOY_TEXT, ISTIO_TEXT } from './envoy-text-log';
import { readMap } from './files';
import { type ReadRecord, UnreadableLine, type LogRecord } from './log-record';
import { ANY_NAMES, parseMapFile, type LogMap } from './map-file';
import { MissingFields } from './missing-fields';
import type { LogFormat, SimulateOptions } from './options';
import { parseObject, readRequestLine } from './request-lines';
import type { KnownNames } from '../request-maps/parse-map';
import { makeDescriptors } from '../request-maps/make-descriptors';
import { LogFacts, type LineFields } from './log-facts';
import { readTime } from './read-time';

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
