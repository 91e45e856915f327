import type { LocatedMap } from '../../../fields/located';
import type { Report } from '../../../fields/report';
import {
  DEFAULT_LEASE_MS,
  type LimitDefinition,
  type ReserveDefinition,
  type RuleDefinition,
} from '../definition';
import { readBlock, readDuration } from './block';
import { readLimit, secondsOf, type LimitContext, type LimitDraft } from './limit';
import { checkTogether, refuseBesideUnlimited } from './limits-together';
import { type RuleFields, ruleFields } from './rule-fields';

/** How to get what one entry of `rate_limit` cannot have. */
export const SEE_SEVERAL_LIMITS =
  'for several limits of one value use rate_limits, see docs/rules.md';

/** The limits of a descriptor, and the other fields of its budget. Mistakes are reported. */
export function readLimits(
  fields: RuleFields<'descriptor'>,
  context: LimitContext,
): Pick<RuleDefinition, 'limit' | 'budget'> {
  const isList = fields.get('rate_limits') !== undefined;
  const drafts = isList ? readList(fields, context) : readSole(fields, context);
  const limits = drafts.map(({ limit }) => limit);
  const block = readBlock(fields, longestOf(drafts));
  const asked = readReserve(fields);
  const [limit] = limits;
  if (limit === undefined || limit.unlimited) {
    if (limit !== undefined) refuseBesideUnlimited(fields);
    return { limit };
  }
  const reserve = asked ?? impliedReserve(limits);
  const budget = { limits, reserve, block };
  checkTogether(fields, drafts, budget);
  const isPlain = !isList && reserve === undefined && block === undefined;
  return isPlain && limit.block === undefined ? { limit } : { limit, budget };
}

/** Requests in flight are counted as open reservations. */
function impliedReserve(limits: readonly LimitDefinition[]): ReserveDefinition | undefined {
  const isInFlight = limits.some((one) => one.isInFlight);
  return isInFlight ? { leaseMs: DEFAULT_LEASE_MS, unsettled: 'charge' } : undefined;
}

/** Seconds of the longest period; undefined: none has one. */
function longestOf(drafts: readonly LimitDraft[]): number | undefined {
  const lengths = drafts.flatMap(({ limit }) => secondsOf(limit) ?? []);
  return lengths.length === 0 ? undefined : Math.max(...lengths);
}

function readSole(fields: RuleFields<'descriptor'>, context: LimitContext): readonly LimitDraft[] {
  const map = fields.mapOf('rate_limit', `; ${SEE_SEVERAL_LIMITS}`);
  return map === undefined ? [] : [readLimit(map, context, fields.report)];
}

export const MAX_LIMITS = 8;

function readList(fields: RuleFields<'descriptor'>, context: LimitContext): readonly LimitDraft[] {
  if (fields.has('rate_limit')) {
    const message = 'rate_limit cannot be combined with rate_limits; expected one or the other';
    fields.error('rate_limit', 'limit-beside-limits', message);
    readSole(fields, context);
  }
  checkLength(fields);
  return fields
    .mapsOf('rate_limits')
    .flatMap((map) => readEntry(map, context, fields.report) ?? []);
}

function checkLength(fields: RuleFields<'descriptor'>): void {
  const node = fields.given('rate_limits');
  if (node !== undefined && node.kind !== 'list') return;
  const count = node?.items.length ?? 0;
  if (count >= 1 && count <= MAX_LIMITS) return;
  const found = count === 0 ? 'is empty' : `has ${String(count)} entries`;
  const message = `rate_limits ${found}: expected 1 to ${String(MAX_LIMITS)} limits`;
  fields.error('rate_limits', 'bad-limits', message);
}

/** Undefined: unlimited, which is reported. */
function readEntry(map: LocatedMap, context: LimitContext, report: Report): LimitDraft | undefined {
  const draft = readLimit(map, context, report);
  if (!draft.limit.unlimited) return draft;
  const message =
    'unlimited: true cannot be combined with rate_limits, all of which apply; expected unit and requests_per_unit';
  draft.fields.error('unlimited', 'unlimited-in-limits', message);
  return undefined;
}

export const UNSETTLED = ['charge', 'release'] as const;

const LEASE = { least: '1s', most: '24h' } as const;

/** `reserve` of a rule; with nothing below it, it has its defaults. Undefined when it is absent. */
function readReserve(rule: RuleFields<'descriptor'>): ReserveDefinition | undefined {
  if (rule.get('reserve') === undefined) return undefined;
  const map = rule.mapOf('reserve');
  if (map === undefined) return { leaseMs: DEFAULT_LEASE_MS, unsettled: 'charge' };
  const fields = ruleFields(map, 'reserve', rule.report);
  const unsettled = fields.oneOf('unsettled', UNSETTLED, 'bad-unsettled');
  return {
    leaseMs: readDuration(fields, 'lease', LEASE) ?? DEFAULT_LEASE_MS,
    unsettled: unsettled ?? 'charge',
  };
}
