/** A total that only grows: exact to 2^53. A class, so that a hundred thousand of them stay small. */
export class Counter {
  value = 0;
  /** How much of it a push output has written away; the rest is the next difference. */
  told = 0;

  add(by: number): void {
    this.value += by;
  }
}
