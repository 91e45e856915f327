import { addWildcard, createWildcards, findWildcards, type WildcardDraft } from '../wildcards';
import type { Overlay, PathStep } from './overlay';

/** The overlays that may still meet a descriptor of one level, or one below it. */
export class OverlayLevel {
  readonly #depth: number;
  readonly #byKey: Patterns;
  /** By the overlays that go on below: rules of one kind have the same ones. */
  readonly #below = new Map<string, OverlayLevel>();
  readonly #numbers: ReadonlyMap<Overlay, number>;

  constructor(
    overlays: readonly Overlay[],
    depth = 0,
    numbers: ReadonlyMap<Overlay, number> = new Map(overlays.map((one, number) => [one, number])),
  ) {
    this.#depth = depth;
    this.#numbers = numbers;
    this.#byKey = new Patterns(overlays, (one) => stepOf(one, depth).key);
  }

  /** Those that meet a descriptor of this level, in their order, and the level below it. */
  meet(key: string, value: string | undefined): OverlaysMet {
    const met = this.#byKey
      .find(key)
      .filter((one) => matchesValue(stepOf(one, this.#depth), value))
      .sort((a, b) => this.#numberOf(a) - this.#numberOf(b));
    const [here, further] = [
      met.filter((one) => this.#isLast(one)),
      met.filter((one) => !this.#isLast(one)),
    ];
    return { here, below: further.length === 0 ? undefined : this.#levelOf(further) };
  }

  #levelOf(overlays: readonly Overlay[]): OverlayLevel {
    const identity = overlays.map((one) => this.#numberOf(one)).join();
    const known = this.#below.get(identity);
    if (known !== undefined) return known;
    const level = new OverlayLevel(overlays, this.#depth + 1, this.#numbers);
    this.#below.set(identity, level);
    return level;
  }

  #isLast({ path }: Overlay): boolean {
    return path.length === this.#depth + 1;
  }

  #numberOf(one: Overlay): number {
    return this.#numbers.get(one) as number;
  }
}

export interface OverlaysMet {
  readonly here: readonly Overlay[];
  /** Undefined: none goes on below. */
  readonly below: OverlayLevel | undefined;
}

/** Finds the overlays of each domain. */
export class OverlayFinder {
  readonly #byDomain: Patterns;

  constructor(overlays: readonly Overlay[]) {
    this.#byDomain = new Patterns(overlays, ({ domain }) => domain);
  }

  /** Undefined: no overlay is for this domain. */
  of(domain: string): OverlayLevel | undefined {
    const overlays = this.#byDomain.find(domain);
    return overlays.length === 0 ? undefined : new OverlayLevel(overlays);
  }
}

function stepOf({ path }: Overlay, depth: number): PathStep {
  return path[depth] as PathStep;
}

function matchesValue({ value: pattern }: PathStep, value: string | undefined): boolean {
  if (pattern === undefined) return true;
  if (value === undefined) return false;
  return pattern === value || matchesPattern(pattern, value);
}

function matchesPattern(pattern: string, text: string): boolean {
  if (!pattern.includes('*')) return false;
  const alone = createWildcards<true>();
  addWildcard(alone, pattern, true);
  return findWildcards(alone, text).length > 0;
}

/** Overlays by a text with or without `*`, so that a thousand of them cost as much as ten. */
class Patterns {
  readonly #byText = new Map<string, Overlay[]>();
  readonly #wildcards: WildcardDraft<Overlay> = createWildcards();
  readonly #any: Overlay[] = [];

  constructor(overlays: readonly Overlay[], patternOf: (overlay: Overlay) => string | undefined) {
    for (const one of overlays) {
      const pattern = patternOf(one);
      if (pattern === undefined) this.#any.push(one);
      else if (pattern.includes('*')) addWildcard(this.#wildcards, pattern, one);
      else this.#byText.set(pattern, [...(this.#byText.get(pattern) ?? []), one]);
    }
  }

  find(text: string): readonly Overlay[] {
    const matching = findWildcards(this.#wildcards, text).map(({ node }) => node);
    return [...(this.#byText.get(text) ?? []), ...matching, ...this.#any];
  }
}
