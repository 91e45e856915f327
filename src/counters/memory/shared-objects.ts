/** Numbers for objects that many counters share, such as the limiter of a rule; one is forgotten with the last counter that has it. */
export class SharedObjects<T extends object> {
  readonly #numbers = new Map<T, number>();
  readonly #shared: ({ readonly object: T; counters: number } | undefined)[] = [];
  readonly #free: number[] = [];

  of(number: number): T {
    return (this.#shared[number] as { readonly object: T }).object;
  }

  /** One more counter has it. */
  take(object: T): number {
    const known = this.#numbers.get(object);
    if (known !== undefined) {
      (this.#shared[known] as { counters: number }).counters += 1;
      return known;
    }
    const number = this.#free.pop() ?? this.#shared.length;
    this.#shared[number] = { object, counters: 1 };
    this.#numbers.set(object, number);
    return number;
  }

  /** One counter less has it. */
  give(number: number): void {
    const shared = this.#shared[number];
    if (shared === undefined || (shared.counters -= 1) > 0) return;
    this.#numbers.delete(shared.object);
    this.#free.push(number);
    this.#shared[number] = undefined;
  }
}
