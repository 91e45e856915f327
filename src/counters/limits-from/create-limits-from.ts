import { merge, tap, timer, type Observable } from 'rxjs';
import {
  createSnapshot,
  createStopSignal,
  createStreamGroup,
  exhaustLatest,
  fromTask,
} from '../../../streams';
import type { LimitsFrom, Statistics } from '../../core/ports';
import type { LimitsFromRule, ValueLimit } from '../../core/rules/rules';
import { toReason } from '../../platform/errors';
import {
  createKnownLimits,
  type KnownLimits,
  type KnownLimitsBounds,
  parseLimit,
  ReadTally,
} from './known-limits';

/** Reads fields of a hash, null where there is none. Rejects when the store cannot be reached or the key is not a hash. */
export type ReadFields = (
  hash: Pick<LimitsFromRule, 'key' | 'isPerSecond'>,
  fields: readonly string[],
) => Promise<readonly (string | null)[]>;

/** The events of a hash, for a log; without values of callers. */
export type LimitsFromEvent = { readonly key: string } & HashEvent;

type HashEvent =
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'read' }
  /** A field holds no valid limit: the rule's own applies. */
  | { readonly kind: 'invalid'; readonly found: string; readonly fields: number }
  | { readonly kind: 'valid' }
  /** All fields that held limits are missing now: the hash was deleted, or the store is empty. */
  | { readonly kind: 'lost'; readonly fields: number }
  /** Some fields exist again. */
  | { readonly kind: 'present' }
  /** It was not used for a long time: nothing more is reported about it. */
  | { readonly kind: 'forgotten' };

export interface LimitsFromDeps {
  readonly readFields: ReadFields;
  readonly monotonicMs: () => number;
  readonly statistics: Pick<Statistics, 'count'>;
  readonly onEvent?: (event: LimitsFromEvent) => void;
}

/** Limits of values, read in the background from hashes. */
export interface LimitsFromHashes extends LimitsFrom {
  /** Reads while it is subscribed to; subscribe once. Completes after `close`. */
  readonly run$: Observable<never>;
  close(): void;
}

const BOUNDS: KnownLimitsBounds = { maxValues: 100_000, maxBytes: 32 * 1_024 * 1_024 };

/** Fields per command. */
const FIELDS_PER_READ = 500;

/** Rounds start earlier than `refresh`, so that values are not older when a round takes its time. */
const ROUND_SHARE = 0.7;

/** A tick shortly before a round is due leaves it to the next one: ticks are close together. */
const TICK_SHARE = 0.1;

/** Pause of a hash after a failed read. */
const PAUSE_MS = 500;

/** A failed round is repeated within this time. */
const MAX_TICK_MS = 1_000;

/** A hash, or a value in one, that was not used for this time is dropped: no rule or request may use it any more. */
const IDLE_MS = 3_600_000;
const IDLE_ROUNDS = 10;

const NEVER = new AbortController().signal;

const ERROR = 'ratelimit.service.limits_from.error';
const INVALID = 'ratelimit.service.limits_from.invalid';
const LOST = 'ratelimit.service.limits_from.lost';

/**
 * Knows the limits of values in use, at most `refresh` old. A new value has none until its field was read, which no decision waits
 * for; a hash that cannot be read keeps its known limits.
 */
export function createLimitsFrom(
  deps: LimitsFromDeps,
  bounds: KnownLimitsBounds = BOUNDS,
): LimitsFromHashes {
  const hashes = new Map<string, Hash>();
  const memory = createKnownLimits(bounds);
  const running = createStreamGroup();
  const stopped = createStopSignal();

  const openHash = (rule: LimitsFromRule): Hash => {
    const hash = new Hash(rule, deps, (onUnread) => memory.open(onUnread));
    hashes.set(rule.id, hash);
    const forget = (): void => {
      hashes.delete(rule.id);
    };
    running.add(hash.run$(forget).pipe(stopped.until()));
    return hash;
  };
  return {
    run$: running.run$,
    limitOf: (rule, value) => (hashes.get(rule.id) ?? openHash(rule)).limitOf(value),
    read: (rule, value) => (hashes.get(rule.id) ?? openHash(rule)).readNow(value),
    close() {
      stopped.stop();
      running.close();
    },
  };
}

class Hash {
  readonly #rule: LimitsFromRule;
  readonly #deps: LimitsFromDeps;
  readonly #known: KnownLimits;
  readonly #wakes = createSnapshot(0);
  readonly #ended = createStopSignal();
  #wasAsked = true;
  #askedMs: number;
  #nextRoundMs: number;
  #failedMs = -Infinity;
  /** Number of missing fields; 0 while some exist. */
  #lost = 0;

  constructor(
    rule: LimitsFromRule,
    deps: LimitsFromDeps,
    open: (onUnread: () => void) => KnownLimits,
  ) {
    this.#rule = rule;
    this.#deps = deps;
    this.#askedMs = deps.monotonicMs();
    this.#nextRoundMs = this.#askedMs + this.#roundMs;
    this.#known = open(() => {
      this.#wakes.set(this.#wakes.current + 1);
    });
  }

  limitOf(value: string): ValueLimit | undefined {
    this.#wasAsked = true;
    return this.#known.get(value);
  }

  async readNow(value: string): Promise<void> {
    this.limitOf(value);
    await this.#readAll([value], false, NEVER);
  }

  /** Reads new values at once, and all of them in rounds; ends when it was not used for a long time. */
  run$(onIdle: () => void): Observable<unknown> {
    const tickMs = Math.min(this.#rule.refreshMs * TICK_SHARE, MAX_TICK_MS);
    const ticks$ = timer(tickMs, tickMs).pipe(
      tap(() => {
        if (this.#isIdle()) this.#end(onIdle);
      }),
    );
    return merge(ticks$, this.#wakes.changes$).pipe(
      exhaustLatest(() => fromTask<never>((signal) => this.#read(signal))),
      this.#ended.until(),
    );
  }

  get #roundMs(): number {
    return this.#rule.refreshMs * ROUND_SHARE;
  }

  get #idleMs(): number {
    return Math.max(IDLE_MS, IDLE_ROUNDS * this.#rule.refreshMs);
  }

  /** A value that no request uses is dropped after this many rounds. */
  get #maxIdle(): number {
    return Math.ceil(this.#idleMs / this.#roundMs);
  }

  #isIdle(): boolean {
    const nowMs = this.#deps.monotonicMs();
    if (this.#wasAsked) this.#askedMs = nowMs;
    this.#wasAsked = false;
    return nowMs - this.#askedMs >= this.#idleMs;
  }

  #end(onIdle: () => void): void {
    onIdle();
    this.#known.clear();
    this.#ended.stop();
    this.#deps.onEvent?.({ kind: 'forgotten', key: this.#rule.key });
  }

  async #read(signal: AbortSignal): Promise<undefined> {
    // Lets all values of a batch arrive first.
    await Promise.resolve();
    const nowMs = this.#deps.monotonicMs();
    if (nowMs - this.#failedMs < PAUSE_MS) return;
    const isRound = nowMs >= this.#nextRoundMs;
    const unread = this.#known.takeUnread();
    const values = isRound ? this.#known.beginRound(this.#maxIdle) : unread;
    if (isRound) this.#nextRoundMs = nowMs + this.#roundMs;
    if (values.length > 0) await this.#readAll(values, isRound, signal);
  }

  async #readAll(values: readonly string[], isRound: boolean, signal: AbortSignal): Promise<void> {
    const tally = new ReadTally();
    try {
      for (let from = 0; from < values.length; from += FIELDS_PER_READ) {
        const some = values.slice(from, from + FIELDS_PER_READ);
        const fields = await this.#deps.readFields(this.#rule, some);
        if (signal.aborted) return;
        some.forEach((value, at) => {
          this.#note(value, fields[at] ?? null, tally);
        });
      }
      this.#worked(isRound, tally);
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    }
  }

  #worked(isRound: boolean, tally: ReadTally): void {
    const { statistics, onEvent } = this.#deps;
    const { key } = this.#rule;
    const { found, invalid: fields } = tally;
    onEvent?.({ kind: 'read', key });
    if (fields > 0) {
      statistics.count(INVALID, fields);
      onEvent?.({ kind: 'invalid', key, found, fields });
    } else if (isRound) onEvent?.({ kind: 'valid', key });
    this.#noteLoss(isRound, tally);
  }

  /** Only a round reads all values: a few new ones may never have had a field. */
  #noteLoss(isRound: boolean, { lost, hasFields }: ReadTally): void {
    const { statistics, onEvent } = this.#deps;
    const { key } = this.#rule;
    if (hasFields && this.#lost > 0) {
      this.#lost = 0;
      onEvent?.({ kind: 'present', key });
    }
    if (!isRound) return;
    if (lost > 0) {
      this.#lost = lost;
      statistics.count(LOST, 1);
    }
    if (this.#lost > 0) onEvent?.({ kind: 'lost', key, fields: this.#lost });
  }

  /** The next round is due as soon as the pause is over: it reads what was missed. */
  #failed(error: unknown): void {
    const { statistics, onEvent, monotonicMs } = this.#deps;
    this.#failedMs = this.#nextRoundMs = monotonicMs();
    statistics.count(ERROR, 1);
    onEvent?.({ kind: 'failed', key: this.#rule.key, reason: toReason(error) });
  }

  #note(value: string, text: string | null, tally: ReadTally): void {
    const limit = text === null ? undefined : parseLimit(text, this.#rule.maxLimit);
    const before = this.#known.set(value, limit === 'invalid' ? undefined : limit);
    tally.note(text, limit, before);
  }
}
