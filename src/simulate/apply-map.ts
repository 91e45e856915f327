import { makeDescriptors } from '../request-maps/make-descriptors';
import { LogFacts, type LineFields } from './log-facts';
import { UnreadableLine, type LogRecord } from './log-record';
import type { LogMap } from './map-file';
import { readTime } from './read-time';

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
