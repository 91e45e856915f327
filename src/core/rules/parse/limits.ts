import {
  DEFAULT_LEASE_MS,
  type LimitDefinition,
  type ReserveDefinition,
  type RuleDefinition,
} from '../definition';
import { readBlock } from './block';
import type { Fields } from './fields';
import { readLimit, secondsOf, type LimitDraft } from './limit';
import { checkTogether, refuseBesideUnlimited } from './limits-together';
import type { LocatedMap } from './located';
import type { LimitNames } from './replaces';
import type { Report } from './report';
import { readReserve } from './reserve';
import { present, readMap, readMaps } from './values';

/** The limits of a descriptor, and what it says beyond them. What is wrong in it is reported. */
export function readLimits(
  fields: Fields<'descriptor'>,
  names: LimitNames,
  report: Report,
): Pick<RuleDefinition, 'limit' | 'budget'> {
  const isList = fields.get('rate_limits') !== undefined;
  const drafts = isList ? readList(fields, names, report) : readSole(fields, names, report);
  const limits = drafts.map(({ limit }) => limit);
  const block = readBlock(fields.get('block'), longestOf(drafts), report);
  const asked = readReserve(fields.get('reserve'), report);
  const [limit] = limits;
  if (limit === undefined || limit.unlimited) {
    if (limit !== undefined) refuseBesideUnlimited(fields, report);
    return { limit };
  }
  const reserve = asked ?? impliedReserve(limits);
  const budget = { limits, reserve, block };
  checkTogether(fields, drafts, budget, report);
  const isPlain = !isList && reserve === undefined && block === undefined;
  return isPlain && limit.block === undefined ? { limit } : { limit, budget };
}

/** Requests in flight are open reservations. */
function impliedReserve(limits: readonly LimitDefinition[]): ReserveDefinition | undefined {
  const isInFlight = limits.some((one) => one.isInFlight);
  return isInFlight ? { leaseMs: DEFAULT_LEASE_MS, unsettled: 'charge' } : undefined;
}

/** Seconds of the longest period; undefined: none has one. */
function longestOf(drafts: readonly LimitDraft[]): number | undefined {
  const lengths = drafts.flatMap(({ limit }) => secondsOf(limit) ?? []);
  return lengths.length === 0 ? undefined : Math.max(...lengths);
}

function readSole(
  fields: Fields<'descriptor'>,
  names: LimitNames,
  report: Report,
): readonly LimitDraft[] {
  const map = readMap(fields.get('rate_limit'), 'rate_limit', report);
  return map === undefined ? [] : [readLimit(map, names, report)];
}

const MAX_LIMITS = 8;

function readList(
  fields: Fields<'descriptor'>,
  names: LimitNames,
  report: Report,
): readonly LimitDraft[] {
  const beside = present(fields.get('rate_limit'));
  if (beside !== undefined) {
    const message = 'rate_limit cannot be combined with rate_limits; expected one or the other';
    report.error(beside.at, 'limit-beside-limits', message);
    readSole(fields, names, report);
  }
  checkLength(fields, report);
  const maps = readMaps(fields.get('rate_limits'), 'rate_limits', report);
  return maps.flatMap((map) => readEntry(map, names, report) ?? []);
}

function checkLength(fields: Fields<'descriptor'>, report: Report): void {
  const field = fields.get('rate_limits');
  const node = present(field);
  if (field === undefined || (node !== undefined && node.kind !== 'list')) return;
  const count = node?.items.length ?? 0;
  if (count >= 1 && count <= MAX_LIMITS) return;
  const found = count === 0 ? 'is empty' : `has ${String(count)} entries`;
  const message = `rate_limits ${found}: expected 1 to ${String(MAX_LIMITS)} limits`;
  report.error(field.at, 'bad-limits', message);
}

/** Undefined: unlimited, which is reported. */
function readEntry(map: LocatedMap, names: LimitNames, report: Report): LimitDraft | undefined {
  const draft = readLimit(map, names, report);
  const { limit, fields } = draft;
  if (!limit.unlimited) return draft;
  const { at } = fields.get('unlimited') ?? map;
  const message =
    'unlimited: true cannot be combined with rate_limits, all of which apply; expected unit and requests_per_unit';
  report.error(at, 'unlimited-in-limits', message);
  return undefined;
}
