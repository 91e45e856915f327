/** A cache of strings by string in two generations: recently used ones stay, the rest is dropped at once. */
export class RecentTexts {
  readonly #half: number;
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  /** `capacity`: maximal number of strings. */
  constructor(capacity: number) {
    this.#half = Math.floor(capacity / 2);
  }

  get(name: string): string | undefined {
    const young = this.#young.get(name);
    if (young !== undefined) return young;
    const old = this.#old.get(name);
    if (old !== undefined) this.set(name, old);
    return old;
  }

  set(name: string, text: string): void {
    if (this.#young.size >= this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(name, text);
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
