import { validateRequest } from '../../core/decision/request';
import type { DecisionRequest, Entry } from '../../core/model';
import type { PendingRequest, Random } from '../../core/ports';
import { matchDescriptor } from '../../core/rules/match';
import type { Rules } from '../../core/rules/rules';
import { redactedEntries } from '../../core/rules/secrets';
import { copyOf } from '../../platform/copy-of';
import { cutText } from './rule-tree';

/** Descriptors that no rule matches, grouped by their domain and their keys. */
export interface UnmatchedView {
  readonly domain: string;
  /** Undefined: the domain has no rules. */
  readonly keys: readonly string[] | undefined;
  /** The values of the first of them, cut. */
  readonly example: readonly string[];
  /** Number of entries that are not shown. */
  readonly further: number;
  readonly perSecond: number;
  /** Descriptors since a dashboard was opened. */
  readonly total: number;
}

interface Shape extends Omit<UnmatchedView, 'perSecond' | 'total'> {
  count: number;
  total: number;
}

/** With the bounds below, all of them take less than 100 kB. */
const SHAPES = 20;
const MAX_ENTRIES = 6;
const MAX_KEY = 128;
const MAX_VALUE = 128;
/** Descriptors inspected per second; above that, batches are sampled and weighted. */
const BUDGET = 2_000;

/** The last shapes of descriptors without a rule, with their frequencies. */
export class Unmatched {
  readonly #random: Random;
  /** By domain and keys, the one seen last at the end. */
  readonly #shapes = new Map<string, Shape>();
  /** One batch in this many is inspected. */
  #stride = 1;
  #passed = 0;
  #inspected = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  record(rules: Rules, pendingRequests: readonly PendingRequest[]): void {
    for (const { request } of pendingRequests) this.#passed += request.descriptors.length;
    if (this.#stride > 1 && this.#random() * this.#stride >= 1) return;
    for (const { request } of pendingRequests) {
      if (this.#inspected >= BUDGET) return;
      if (validateRequest(request) === undefined) this.#inspect(rules, request);
    }
  }

  /** The shapes, the most frequent first, over the seconds since the last call. */
  take(seconds: number): readonly UnmatchedView[] {
    this.#stride = Math.max(1, Math.ceil(this.#passed / seconds / BUDGET));
    this.#passed = this.#inspected = 0;
    const views = [...this.#shapes.values()].map((shape) => {
      const { domain, keys, example, further, total } = shape;
      const perSecond = shape.count / seconds;
      shape.count = 0;
      return { domain, keys, example, further, perSecond, total };
    });
    return views.sort((a, b) => b.total - a.total);
  }

  clear(): void {
    this.#shapes.clear();
    this.#stride = 1;
    this.#passed = this.#inspected = 0;
  }

  #inspect(rules: Rules, { domain, descriptors }: DecisionRequest): void {
    const domainRules = rules.domains.get(domain);
    this.#inspected += descriptors.length;
    if (domainRules === undefined) {
      this.#add(domain, undefined, descriptors.length);
      return;
    }
    const { secrets } = rules;
    for (const descriptor of descriptors) {
      if (matchDescriptor(domainRules, descriptor) !== undefined) continue;
      const entries =
        secrets === undefined ? descriptor.entries : redactedEntries(secrets, descriptor.entries);
      this.#add(domain, entries, 1);
    }
  }

  #add(domain: string, all: readonly Entry[] | undefined, count: number): void {
    const entries = all?.slice(0, MAX_ENTRIES) ?? [];
    const length = all?.length ?? -1;
    const keys = entries.map(({ key }) => cutText(key, MAX_KEY));
    const id = JSON.stringify([cutText(domain, MAX_KEY), length, ...keys]);
    const known = this.#shapes.get(id);
    const shape = known ?? {
      domain: copyOf(cutText(domain, MAX_KEY)),
      keys: all && keys.map(copyOf),
      example: entries.map(({ value }) => copyOf(cutText(value, MAX_VALUE))),
      further: Math.max(length - MAX_ENTRIES, 0),
      count: 0,
      total: 0,
    };
    shape.count += count * this.#stride;
    shape.total += count * this.#stride;
    this.#shapes.delete(id);
    this.#shapes.set(id, shape);
    const [oldest] = this.#shapes.keys();
    if (oldest !== undefined && this.#shapes.size > SHAPES) this.#shapes.delete(oldest);
  }
}
