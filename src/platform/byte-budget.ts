/** Holds bytes for a peer (unread answers, unfinished messages) and can be ended: a connection. */
export interface ByteHolder {
  /** Bytes held, as last reported; only the budget writes it. Starts at 0. */
  heldBytes: number;
  /** Ends the connection at once; everything it holds becomes free. */
  end(): void;
}

/** Below this share of the budget new work is accepted again. */
const RESUME_SHARE = 0.75;

/**
 * One budget of bytes for all connections of the process. A report costs one comparison while nothing changes. When the budget is
 * spent, the connection that holds most is ended, and `isSpent` tells listeners to refuse new work until a quarter of the budget is
 * free again.
 */
export class ByteBudget {
  readonly #maxBytes: number;
  readonly #onEnd: () => void;
  readonly #holders = new Set<ByteHolder>();
  #held = 0;
  #isSpent = false;

  /** `onEnd` is called for every connection that the budget ends. */
  constructor(maxBytes: number, onEnd: () => void = () => undefined) {
    this.#maxBytes = maxBytes;
    this.#onEnd = onEnd;
  }

  get heldBytes(): number {
    return this.#held;
  }

  /** True while new work must be refused (RESOURCE_EXHAUSTED, 503). */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** Reports how many bytes a connection holds now; 0 when it is closed. May end connections. */
  report(holder: ByteHolder, bytes: number): void {
    if (bytes === holder.heldBytes) return;
    this.#set(holder, bytes);
    while (this.#held > this.#maxBytes && this.#endLargest()) this.#isSpent = true;
    if (this.#isSpent && this.#held < RESUME_SHARE * this.#maxBytes) this.#isSpent = false;
  }

  /** Ends a connection that by itself holds too much, or for too long. */
  end(holder: ByteHolder): void {
    this.report(holder, 0);
    this.#onEnd();
    holder.end();
  }

  #set(holder: ByteHolder, bytes: number): void {
    this.#held += bytes - holder.heldBytes;
    holder.heldBytes = bytes;
    if (bytes === 0) this.#holders.delete(holder);
    else this.#holders.add(holder);
  }

  #endLargest(): boolean {
    let largest: ByteHolder | undefined;
    for (const holder of this.#holders) {
      if (largest === undefined || holder.heldBytes > largest.heldBytes) largest = holder;
    }
    if (largest === undefined) return false;
    this.#set(largest, 0);
    this.#onEnd();
    largest.end();
    return true;
  }
}
