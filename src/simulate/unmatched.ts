import { explainPath, explainUnknownDomain } from '../core/explain/explain-path';
import type { NoLimit } from '../core/explain/explanation';
import type { DecisionRequest, DescriptorStatus, RequestDescriptor } from '../core/model';
import type { Rules } from '../core/rules/rules';

const MAX_SHAPES = 1_000;

/** Descriptors that met no limit, distinguished by their keys. */
export interface UnmatchedShape {
  readonly domain: string;
  /** The keys, joined by commas. */
  readonly keys: string;
  /** The first of them. */
  readonly example: RequestDescriptor;
  requests: number;
}

/** Why a descriptor met no limit. One that would meet one alone was replaced by a rule of another descriptor. */
export function whyUnmatched(
  { domain, example }: UnmatchedShape,
  { domains, places }: Rules,
): Pick<NoLimit, 'reason' | 'hint'> {
  const rules = domains.get(domain);
  if (rules === undefined) return explainUnknownDomain(domain, domains.keys());
  const hint = 'a rule of another descriptor of the request replaces the one that it meets';
  return explainPath(rules, example.entries, places).noLimit ?? { reason: 'replaced', hint };
}

/** Counts descriptors without a limit by their shape; of more than 1,000 shapes the rest only in sum. */
export class UnmatchedSheet {
  readonly #shapes = new Map<string, UnmatchedShape>();
  others = 0;

  note({ domain, descriptors }: DecisionRequest, statuses: readonly DescriptorStatus[]): void {
    for (let i = 0; i < descriptors.length; i++) {
      const { currentLimit, limitRemaining } = statuses[i] as DescriptorStatus;
      // An unlimited rule has no limit to report either, and endless hits left.
      if (currentLimit !== undefined || limitRemaining > 0) continue;
      this.#add(domain, descriptors[i] as RequestDescriptor);
    }
  }

  /** Most frequent first. */
  shapes(): readonly UnmatchedShape[] {
    return [...this.#shapes.values()].sort((a, b) => b.requests - a.requests);
  }

  #add(domain: string, example: RequestDescriptor): void {
    const keys = example.entries.map(({ key }) => key).join(',');
    const name = `${domain}\n${keys}`;
    const shape = this.#shapes.get(name);
    if (shape !== undefined) shape.requests += 1;
    else if (this.#shapes.size >= MAX_SHAPES) this.others += 1;
    else this.#shapes.set(name, { domain, keys, example, requests: 1 });
  }
}
