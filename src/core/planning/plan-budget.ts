import { isBudgetLimiter, MAX_SUM } from '../budgets/budget';
import type { Reservation } from '../kinds/kind';
import type { DecisionRequest, RequestDescriptor } from '../model';
import type { Increment } from '../ports';
import { counterName } from '../rules/key-template';
import { redactedPath, type Match } from '../rules/match';
import { hitsOf } from '../decision/request';
import type { Rules } from '../rules/rules';
import type { Runs } from './runs';
import type { Windows } from './windows';

/** Maximal length of a reservation's id, in bytes of UTF-8. */
const MAX_ID_BYTES = 256;

/** Why a descriptor's operation is invalid under a rule with a budget (budgets.md sections 4 and 8); undefined: it is valid. */
export function faultOfBudgets(
  request: DecisionRequest,
  matches: readonly (Match | undefined)[],
): string | undefined {
  for (const [at, match] of matches.entries()) {
    if (match === undefined || !isBudgetLimiter(match.limit.limiter)) continue;
    const fault = faultOf(match, hitsOf(request, request.descriptors[at] as RequestDescriptor));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOf({ id, limit }: Match, hits: number | bigint): string | undefined {
  if (typeof hits === 'bigint')
    return `hits_addend ${String(hits)} of a descriptor is above ${String(MAX_SUM)}, the maximum under the rule ${limit.metric}`;
  if (id === undefined) return undefined;
  const bytes = Buffer.byteLength(id);
  return bytes >= 1 && bytes <= MAX_ID_BYTES
    ? undefined
    : `the value of ${String(limit.reservation)} must have 1 to ${String(MAX_ID_BYTES)} bytes; found ${String(bytes)}`;
}

/** What a descriptor does with reserved hits; undefined: its hits are charged at once. */
export function reservationOf(
  { id, limit }: Match,
  { hits }: Pick<RequestDescriptor, 'hits'>,
): Reservation | undefined {
  if (id === undefined || limit.reservation === undefined) return undefined;
  return { mode: limit.reservation, id, saysHits: hits !== undefined };
}

interface BudgetPlanning {
  readonly rules: Pick<Rules, 'secrets'>;
  readonly windows: Windows;
  readonly options: { readonly keyPrefix: string };
  readonly runs: Runs;
}

/**
 * The increment of a rule with a budget. All keys of its counter share one hash tag, so that a cluster stores them on one node; the
 * length of the domain separates domains whose names and keys read the same.
 */
export function budgetIncrement(
  match: Match,
  hits: number,
  reservation: Reservation | undefined,
  planning: BudgetPlanning,
): Increment {
  const { limit, template, entries } = match;
  const { rules, windows, options } = planning;
  const shown = rules.secrets && redactedPath(match, rules.secrets, windows.second);
  const name = counterName(template, shown ?? entries);
  const { limiter } = limit;
  return {
    key: `${options.keyPrefix}{c:${name}~${String(limit.domain.length)}}${String(limiter.keyEnd)}`,
    // Reservations refund nothing.
    hits: reservation === undefined ? hits : Math.max(0, hits),
    limit: limit.requestsPerUnit,
    ttlSeconds: 0,
    windowEndSeconds: windows.second,
    rule: limit,
    entries,
    shown,
    limiter,
    times: 1,
    reservation,
    holdsBack: planning.runs.holdsBack(limit),
  };
}
