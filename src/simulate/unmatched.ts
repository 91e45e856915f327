import { explainPath, explainUnknownDomain } from '../core/explain/explain-path';
import type { NoLimit } from '../core/explain/explanation';
import type { DecisionRequest, DescriptorStatus, RequestDescriptor } from '../core/model';
import type { Rules } from '../core/rules/rules';
import { finish } from '../core/steps';
import { copyOf } from '../platform/copy-of';

const MAX_SHAPES = 1_000;
/** For all examples: a line of a log may have a megabyte. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** Descriptors that matched no limit, grouped by their keys. */
export interface UnmatchedShape {
  readonly domain: string;
  /** The keys, joined by commas. */
  readonly keys: string;
  /** The first of them. */
  readonly example: RequestDescriptor;
  requests: number;
}

/** Why a descriptor matched no limit. One that would match alone was replaced by a rule of another descriptor. */
export function whyUnmatched(
  { domain, example }: UnmatchedShape,
  { domains, places }: Rules,
): Pick<NoLimit, 'reason' | 'hint'> {
  const rules = domains.get(domain);
  if (rules === undefined) return finish(explainUnknownDomain(domain, domains.keys()));
  const hint = 'a rule of another descriptor of the request replaces the one that it matches';
  const { noLimit, sent } = finish(explainPath(rules, example.entries, places));
  if (noLimit === undefined) return { reason: 'replaced', hint };
  return sent === undefined ? noLimit : { ...noLimit, hint: `${noLimit.hint}; ${sent}` };
}

/** Counts descriptors without a limit by their shape; those beyond 1,000 shapes, or 16 MiB of examples, only in sum. */
export class UnmatchedCounts {
  readonly #shapes = new Map<string, UnmatchedShape>();
  #characters = 0;
  others = 0;

  note({ domain, descriptors }: DecisionRequest, statuses: readonly DescriptorStatus[]): void {
    for (let i = 0; i < descriptors.length; i++) {
      const { currentLimit, limitRemaining } = statuses[i] as DescriptorStatus;
      // An unlimited rule reports no limit either, and infinite hits left.
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
    if (shape !== undefined) {
      shape.requests += 1;
      return;
    }
    const characters = example.entries.reduce((sum, { value }) => sum + value.length, name.length);
    if (this.#shapes.size >= MAX_SHAPES || this.#characters + characters > MAX_CHARACTERS) {
      this.others += 1;
      return;
    }
    this.#characters += characters;
    this.#shapes.set(name, { domain, keys, example: copyOfDescriptor(example), requests: 1 });
  }
}

/** Keeps no line of the log alive. */
function copyOfDescriptor(descriptor: RequestDescriptor): RequestDescriptor {
  const entries = descriptor.entries.map(({ key, value }) => ({
    key: copyOf(key),
    value: copyOf(value),
  }));
  return { ...descriptor, entries };
}
