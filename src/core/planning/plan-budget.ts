import { isBudgetLimiter, MAX_SUM } from '../budgets/budget';
import type { Reservation } from '../kinds/kind';
import type { DecisionRequest, RequestDescriptor } from '../model';
import type { Increment } from '../ports';
import { counterName } from '../rules/key-template';
import { redactedPath, type Match } from '../rules/match';
import { hitsOf } from '../decision/request';
import type { Rules, RuleLimit } from '../rules/rules';
import type { Windows } from './windows';

/** Which requests are decided together. */
export interface RunOptions {
  /** STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: the counters of a request are decided together. */
  readonly holdBack: boolean;
  /** SHADOW_MODE or QUOTA_MODE: no rule by itself refuses a request, so `together` has no effect. */
  readonly refusesNothing?: boolean;
}

/**
 * The ends of requests whose counters are decided together: all of them under STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT, else those
 * of domains with `charge: together`. Every increment of other requests is a run of its own, which holds nothing back.
 */
export class Runs {
  /** See CounterBatch; undefined: no request is decided together. */
  readonly groupEnds: number[] | undefined;
  readonly #rules: Rules;
  readonly #holdBack: boolean;
  /** Whether all hits of one counter in that request are one charge: for domains with `charge: together`. */
  isJoining = false;
  #isTogether: boolean;
  #start = 0;

  constructor(rules: Rules, { holdBack, refusesNothing = false }: RunOptions) {
    this.#rules = rules;
    this.#holdBack = holdBack;
    this.#isTogether = holdBack;
    this.groupEnds = holdBack || (rules.hasTogether && !refusesNothing) ? [] : undefined;
  }

  /** Whether the counters of the next request are decided together. */
  begin(domain: string): boolean {
    this.isJoining =
      this.groupEnds !== undefined && this.#rules.domains.get(domain)?.isChargedTogether === true;
    if (!this.#holdBack) this.#isTogether = this.isJoining;
    return this.#isTogether;
  }

  /** See `Increment.holdsBack`: in a domain that is charged together, a rule that refuses no request by itself holds back no other. */
  holdsBack({ shadowMode, quotaMode }: RuleLimit): false | undefined {
    return this.#isTogether && !this.#holdBack && (shadowMode || quotaMode) ? false : undefined;
  }

  /** Ends the request, whose increments end at this index. */
  end(increments: number): void {
    const { groupEnds } = this;
    if (groupEnds === undefined) return;
    if (this.#holdBack) groupEnds.push(increments);
    else if (this.#isTogether && increments > this.#start) groupEnds.push(increments);
    else for (let end = this.#start + 1; end <= increments; end += 1) groupEnds.push(end);
    this.#start = increments;
  }
}

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
  if (limit.reservation === 'settle' && hits === 0 && ignoresZero(limit)) return undefined;
  return { mode: limit.reservation, id, saysHits: hits !== undefined };
}

function ignoresZero({ limiter }: RuleLimit): boolean {
  return isBudgetLimiter(limiter) && limiter.budget.reserve?.ignoresZero === true;
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
