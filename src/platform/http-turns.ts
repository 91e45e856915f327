/** Requests that all connections of all ports may begin in one turn of the event loop; the others wait for the next one. */
const MAX_BEGUN = 32;
/** Requests that Node may parse in one turn that have to wait for others, before all connections pause for a turn. */
const MAX_PARSED = 100;
/** Parsed requests waiting for others of their connections, of some 2.6 KB each, before the connection with most of them is ended. */
const MAX_WAITING = 50_000;

/** A connection, as seen by `HttpTurns`. */
export interface TurnTaker {
  /** Parsed requests that wait for others of the connection. */
  readonly waiting: number;
  /** Its turn has come. */
  advance(): void;
  /** Whether it may read has changed. */
  settleReading(): void;
  /** Ends the connection. */
  end(): void;
}

/**
 * Shares the turns of the event loop between the requests of all HTTP ports of a process, so that those of a few connections,
 * thousands in one packet, delay nothing else.
 */
export class HttpTurns {
  readonly #takers = new Set<TurnTaker>();
  readonly #waiting = new Set<TurnTaker>();
  #begun = 0;
  #parsed = 0;
  #waitingRequests = 0;
  #restingTurns = 0;
  #isScheduled = false;

  add(taker: TurnTaker): void {
    this.#takers.add(taker);
  }

  /** The connection is closed. */
  remove(taker: TurnTaker): void {
    if (!this.#takers.delete(taker)) return;
    this.#waitingRequests -= taker.waiting;
    this.#waiting.delete(taker);
  }

  /** While true no connection may read: one has brought a full turn of requests, and the rest waits. */
  get isResting(): boolean {
    return this.#restingTurns > 0;
  }

  /** Whether one more request may begin in this turn. */
  take(): boolean {
    if (this.#begun >= MAX_BEGUN) return false;
    this.#begun += 1;
    this.#schedule();
    return true;
  }

  /** Calls `advance` in a later turn, in the order of the calls. */
  later(taker: TurnTaker): void {
    this.#waiting.add(taker);
    this.#schedule();
  }

  /** A request was parsed that must wait for an earlier one. */
  noteParsed(): void {
    this.#parsed += 1;
    this.#waitingRequests += 1;
    if (this.#waitingRequests > MAX_WAITING) this.#endLongest();
    if (this.#parsed !== MAX_PARSED) return;
    // The next turn is for everything else.
    this.#restingTurns = 2;
    this.#schedule();
    this.#settleReading();
  }

  /** A waiting request is gone. */
  noteGone(): void {
    this.#waitingRequests -= 1;
  }

  #endLongest(): void {
    let longest: TurnTaker | undefined;
    for (const taker of this.#takers)
      if (longest === undefined || taker.waiting > longest.waiting) longest = taker;
    longest?.end();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#beginTurn);
  }

  readonly #beginTurn = (): void => {
    this.#isScheduled = false;
    this.#begun = 0;
    this.#parsed = 0;
    if (this.#restingTurns > 0) {
      this.#restingTurns -= 1;
      if (this.#restingTurns === 0) this.#settleReading();
      else this.#schedule();
    }
    for (const taker of this.#waiting) {
      if (this.#begun >= MAX_BEGUN) break;
      this.#waiting.delete(taker);
      taker.advance();
    }
    if (this.#waiting.size > 0) this.#schedule();
  };

  #settleReading(): void {
    for (const taker of this.#takers) taker.settleReading();
  }
}
