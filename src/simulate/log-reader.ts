import { COMBINED_NAMES, readCombinedLine } from './combined-log';
import { readMap } from './files';
import { type ReadRecord, UnreadableLine, type LogRecord } from './log-record';
import { ANY_NAMES, parseMapFile, type LogMap } from './map-file';
import type { SimulateOptions } from './options';
import { parseObject, readRequestLine } from './request-lines';
import { makeDescriptors } from '../request-maps/make-descriptors';
import { LogFacts, type LineFields } from './log-facts';
import { readTime } from './read-time';

const MAX_FIELDS_SHOWN = 20;
const MAX_NAME_SHOWN = 60;

export interface LogReader {
  readonly readRecord: ReadRecord;
  /** Names of the fields of the first line that was read; empty where no map takes them. */
  readonly firstFields: readonly string[];
}

/** How the lines of the log become requests. Rejects where the map cannot be used. */
export async function createLogReader({ format, map }: SimulateOptions): Promise<LogReader> {
  if (map === undefined) return { readRecord: readRequestLine, firstFields: [] };
  const isCombined = format === 'combined';
  const log = parseMapFile(map, await readMap(map), isCombined ? COMBINED_NAMES : ANY_NAMES);
  const toFields = isCombined ? readCombinedLine : parseObject;
  const firstFields: string[] = [];
  const readRecord: ReadRecord = (line) => {
    const fields = toFields(line);
    if (firstFields.length === 0) firstFields.push(...namesOf(fields));
    return applyMap(log, fields);
  };
  return { readRecord, firstFields };
}

function namesOf(fields: object): readonly string[] {
  const names = Object.keys(fields).slice(0, MAX_FIELDS_SHOWN);
  return names.map((name) => name.slice(0, MAX_NAME_SHOWN));
}

/**
 * Makes of one line the request that a proxy would have sent; undefined means that no descriptor was left. Throws `UnreadableLine`
 * where the line has no time.
 */
export function applyMap(
  { domain, time, descriptors }: LogMap,
  fields: LineFields,
): LogRecord | undefined {
  const facts = new LogFacts(fields);
  const made = makeDescriptors(descriptors, facts);
  const written = facts.find(time.field);
  if (written === undefined) throw new UnreadableLine(`the time field "${time.field}" is missing`);
  const timeSeconds = readTime(written, time.format);
  if (made.length === 0) return undefined;
  return { timeSeconds, request: { domain, descriptors: made, hitsAddend: 0 } };
}
