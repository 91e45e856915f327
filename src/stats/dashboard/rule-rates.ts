import type { BatchStats, DescriptorStats } from '../../core/decision/figures';
import type { RuleLimit, Rules } from '../../core/rules/rules';
import { toRuleTree, type RuleTree } from './rule-tree';

/** Hits: all, near, over, and in shadow over a limit. */
export type Hits = readonly [hits: number, near: number, over: number, shadow: number];

/** Four sums that grow in place. */
class Sums {
  hits = 0;
  near = 0;
  over = 0;
  shadow = 0;

  add({ totalHits, nearLimit, overLimit, shadowMode }: DescriptorStats): void {
    this.hits += totalHits;
    this.near += nearLimit;
    this.over += overLimit;
    this.shadow += shadowMode;
  }

  merge({ hits, near, over, shadow }: Sums): void {
    this.hits += hits;
    this.near += near;
    this.over += over;
    this.shadow += shadow;
  }

  take(): Hits {
    const { hits, near, over, shadow } = this;
    this.hits = this.near = this.over = this.shadow = 0;
    return [hits, near, over, shadow];
  }

  get isEmpty(): boolean {
    return this.hits === 0 && this.near === 0 && this.over === 0 && this.shadow === 0;
  }
}

/** Hits by rule, for one set of rules: a reload starts another one. */
export class RuleRates {
  readonly rules: Rules;
  readonly tree: RuleTree;
  readonly #byLimit = new Map<RuleLimit, Sums>();
  /** Hits of limits that are not listed, and of those in requests. */
  readonly #unlisted = new Map<string, Sums>();

  constructor(rules: Rules) {
    this.rules = rules;
    this.tree = toRuleTree(rules);
    for (const { limit } of this.tree.limits) this.#byLimit.set(limit, new Sums());
    for (const domain of rules.domains.keys()) {
      if (this.#unlisted.size === this.tree.domains.length) break;
      this.#unlisted.set(domain, new Sums());
    }
  }

  record({ rules }: BatchStats): void {
    // eslint-disable-next-line @typescript-eslint/prefer-for-of -- once for each descriptor: no iterator
    for (let i = 0; i < rules.length; i++) {
      const line = rules[i] as DescriptorStats;
      (this.#byLimit.get(line.limit.ofRule ?? line.limit) ?? this.#ofDomain(line.limit)).add(line);
    }
  }

  /** The counts since the last call. */
  take() {
    const byDomain = new Map([...this.#unlisted.keys()].map((domain) => [domain, new Sums()]));
    /** Rules without counts are omitted. */
    const rules: (readonly [id: number, hits: Hits])[] = [];
    this.tree.limits.forEach(({ limit, domain }, id) => {
      const sums = this.#byLimit.get(limit);
      if (sums === undefined || sums.isEmpty) return;
      byDomain.get(domain)?.merge(sums);
      rules.push([id, sums.take()]);
    });
    const total = new Sums();
    /** All limits of each, those in requests too. */
    const domains: (readonly [place: number, hits: Hits])[] = [];
    for (const [place, [domain, sums]] of [...byDomain].entries()) {
      const unlisted = this.#unlisted.get(domain);
      if (unlisted !== undefined) sums.merge(unlisted);
      unlisted?.take();
      total.merge(sums);
      if (!sums.isEmpty) domains.push([place, sums.take()]);
    }
    total.merge(this.#rest);
    this.#rest.take();
    return { rules, domains, total: total.take() };
  }

  readonly #rest = new Sums();

  #ofDomain({ domain }: RuleLimit): Sums {
    return this.#unlisted.get(domain) ?? this.#rest;
  }
}
