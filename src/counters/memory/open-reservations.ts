import { copyOf } from '../../platform/copy-of';
import { SPARE_SECONDS } from '../../core/kinds/ticks';
import { bytesOfText } from '../kept-key';

export interface OpenReservation {
  readonly id: string;
  readonly hits: number;
  readonly leaseMs: number;
  /** Milliseconds since 1970. */
  endMs: number;
  /** Whether a second call used it: its caller is still there. */
  isMet: boolean;
}

/** Memory that V8 needs per reservation besides the characters of its id, measured: an object, two numbers, a string and a map entry. */
const RESERVATION_BYTES = 200;

/** The open reservations of one counter. Those with equal leases expire in the order in which they were opened. */
export class OpenReservations {
  size = 0;
  /** The expiry of the last one, open or not. */
  lastEndMs = 0;
  readonly #byLease = new Map<number, Map<string, OpenReservation>>();
  #isMended = false;

  get(id: string): OpenReservation | undefined {
    for (const ofLease of this.#byLease.values()) {
      const found = ofLease.get(id);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  open(id: string, hits: number, leaseMs: number, nowMs: number): void {
    const ofLease = this.#byLease.get(leaseMs) ?? new Map<string, OpenReservation>();
    this.#byLease.set(leaseMs, ofLease);
    const endMs = nowMs + leaseMs;
    const own = copyOf(id);
    ofLease.set(own, { id: own, hits, leaseMs, endMs, isMet: false });
    this.size += 1;
    this.lastEndMs = Math.max(this.lastEndMs, endMs);
  }

  end({ id, leaseMs }: OpenReservation): void {
    const ofLease = this.#byLease.get(leaseMs);
    if (ofLease?.delete(id) !== true) return;
    this.size -= 1;
    if (ofLease.size === 0) this.#byLease.delete(leaseMs);
  }

  /**
   * Those with expired leases, at most `most`, the first to expire first. `leaseMs`: the rule's lease; an expiry later than that
   * plus some seconds was set by a wrong clock or a longer lease.
   */
  due(nowMs: number, leaseMs: number, most: number): readonly OpenReservation[] {
    const latestMs = nowMs + leaseMs + SPARE_SECONDS * 1_000;
    if (this.lastEndMs > latestMs) this.#endBefore(latestMs);
    const due: OpenReservation[] = [];
    for (const ofLease of this.#byLease.values()) {
      for (const one of ofLease.values()) {
        if (one.endMs > nowMs || due.length === most) break;
        due.push(one);
      }
    }
    return this.#byLease.size === 1 ? due : due.sort((a, b) => a.endMs - b.endMs);
  }

  /** Those with unexpired leases, at most `most`, the first to expire first. */
  lasting(nowMs: number, most: number): readonly OpenReservation[] {
    const lasting: OpenReservation[] = [];
    for (const ofLease of this.#byLease.values()) {
      let left = most;
      for (const one of ofLease.values()) {
        if (left === 0) break;
        if (one.endMs <= nowMs) continue;
        lasting.push(one);
        left -= 1;
      }
    }
    return lasting.sort((a, b) => a.endMs - b.endMs).slice(0, most);
  }

  #endBefore(latestMs: number): void {
    for (const [leaseMs, ofLease] of this.#byLease) {
      const all = [...ofLease.values()];
      for (const one of all) one.endMs = Math.min(one.endMs, latestMs);
      all.sort((a, b) => a.endMs - b.endMs);
      this.#byLease.set(leaseMs, new Map(all.map((one) => [one.id, one])));
    }
    this.lastEndMs = latestMs;
    this.#isMended = true;
  }

  /** Whether ends from a wrong clock were mended since the last call. */
  takeMended(): boolean {
    const isMended = this.#isMended;
    if (isMended) this.#isMended = false;
    return isMended;
  }

  /** All of them; those with equal leases in the order in which they were opened. */
  *all(): Generator<OpenReservation, void> {
    for (const ofLease of this.#byLease.values()) yield* ofLease.values();
  }
}

/** An upper bound of the memory of a reservation with this id. */
export function bytesOfReservation(id: string): number {
  return RESERVATION_BYTES + bytesOfText(id);
}

/** Shared by all counters until their first reservation: most never have one, and a map for each would be a third of its memory. */
export const NONE_OPEN = new OpenReservations();
