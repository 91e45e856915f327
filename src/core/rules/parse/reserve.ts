import { DEFAULT_LEASE_MS, type ReserveDefinition } from '../definition';
import { readDuration } from './duration';
import { readFields } from './fields';
import type { Located } from './located';
import type { Report } from './report';
import { readMap, readOneOf } from './values';

const LEASE = { least: '1s', most: '24h' } as const;

const UNSETTLED = ['charge', 'release'] as const;

/** `reserve` of a rule, all of it said: written without anything below it, it has its defaults. Undefined when it is not written. */
export function readReserve(
  node: Located | undefined,
  report: Report,
): ReserveDefinition | undefined {
  if (node === undefined) return undefined;
  const map = readMap(node, 'reserve', report);
  if (map === undefined) return { leaseMs: DEFAULT_LEASE_MS, unsettled: 'charge' };
  const fields = readFields(map, 'reserve', report);
  const unsettled = readOneOf(
    fields.get('unsettled'),
    'unsettled',
    UNSETTLED,
    report,
    (at, message) => {
      report.error(at, 'bad-unsettled', message);
    },
  );
  return {
    leaseMs: readDuration(fields.get('lease'), 'lease', LEASE, report) ?? DEFAULT_LEASE_MS,
    unsettled: unsettled ?? 'charge',
  };
}
