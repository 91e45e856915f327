const SPAN_MS = 1_000;

/** The longest round trip to the store in the last second, in milliseconds; it may be remembered for a second more. */
export class RoundTrips {
  #startMs = -Infinity;
  #longest = 0;
  #longestBefore = 0;

  note(roundTripMs: number, nowMs: number): void {
    this.#turn(nowMs);
    this.#longest = Math.max(this.#longest, roundTripMs);
  }

  longest(nowMs: number): number {
    this.#turn(nowMs);
    return Math.max(this.#longest, this.#longestBefore);
  }

  #turn(nowMs: number): void {
    const passedMs = nowMs - this.#startMs;
    if (passedMs < SPAN_MS) return;
    this.#longestBefore = passedMs < 2 * SPAN_MS ? this.#longest : 0;
    this.#longest = 0;
    this.#startMs = nowMs;
  }
}
