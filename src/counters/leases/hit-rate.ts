const SPAN_MS = 1_000;

/** Hits of the last second: those of the current second, and those of the previous one in proportion to its part. */
export class HitRate {
  #startMs: number;
  #hits = 0;
  #hitsBefore = 0;

  constructor(nowMs: number) {
    this.#startMs = nowMs;
  }

  add(hits: number, nowMs: number): void {
    this.#turn(nowMs);
    this.#hits += hits;
  }

  perSecond(nowMs: number): number {
    this.#turn(nowMs);
    const rest = 1 - (nowMs - this.#startMs) / SPAN_MS;
    return this.#hits + this.#hitsBefore * rest;
  }

  #turn(nowMs: number): void {
    const passedMs = nowMs - this.#startMs;
    if (passedMs < SPAN_MS) return;
    const seconds = Math.floor(passedMs / SPAN_MS);
    this.#hitsBefore = seconds === 1 ? this.#hits : 0;
    this.#hits = 0;
    this.#startMs += seconds * SPAN_MS;
  }
}
