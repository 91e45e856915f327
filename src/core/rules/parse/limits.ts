import type { LocatedMap } from '../../../fields/located';
import type { Report } from '../../../fields/report';
import {
  DEFAULT_LEASE_MS,
  type LimitDefinition,
  type ReserveDefinition,
  type RuleDefinition,
} from '../definition';
import { readBlock } from './block';
import { refuseExcluded } from './beside';
import { readLimit, secondsOf, type LimitContext, type LimitDraft } from './limit';
import { checkTogether } from './limits-together';
import { RuleFields } from './rule-fields';
import { MAX_LIMITS } from './table/descriptor';
import { namesOf } from './table/levels';

const EXCLUDED = namesOf('descriptor', ({ excludes }) => excludes !== undefined);

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
    if (limit !== undefined) refuseExcluded(fields, EXCLUDED);
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
  const map = fields.read('rate_limit');
  return map === undefined ? [] : [readLimit(map, context, fields.report)];
}

function readList(fields: RuleFields<'descriptor'>, context: LimitContext): readonly LimitDraft[] {
  if (fields.has('rate_limit')) {
    const message = 'rate_limit cannot be combined with rate_limits; expected one or the other';
    fields.error('rate_limit', 'limit-beside-limits', message);
    readSole(fields, context);
  }
  checkLength(fields);
  return fields.read('rate_limits').flatMap((map) => readEntry(map, context, fields.report) ?? []);
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

/** `reserve` of a rule; with nothing below it, it has its defaults. Undefined when it is absent. */
function readReserve(rule: RuleFields<'descriptor'>): ReserveDefinition | undefined {
  if (!rule.isNamed('reserve')) return undefined;
  const map = rule.read('reserve');
  const fields = map && new RuleFields(map, 'reserve', rule.report);
  const unsettled = fields?.read('unsettled') ?? 'charge';
  return { leaseMs: fields?.read('lease') ?? DEFAULT_LEASE_MS, unsettled };
}
