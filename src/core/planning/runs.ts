import type { RuleLimit, Rules } from '../rules/rules';

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
