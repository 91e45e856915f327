import { createLimit, type LimitModel, type LimitSpec } from './limits';

/** A rule as docs/budgets.md promises it: several limits, reservations, slots and blocks. */
export interface RuleSpec {
  readonly limits: readonly LimitSpec[];
  /** Undefined: nothing is held. */
  readonly reserve:
    { readonly leaseMs: number; readonly unsettled: 'charge' | 'release' } | undefined;
  readonly block: BlockSpec | undefined;
}

export interface BlockSpec {
  readonly after: number;
  readonly withinMs: number;
  readonly forMs: number;
  readonly upToMs: number;
}

/** `hits` of a settle undefined: what was held. */
export type Ask =
  | { readonly kind: 'hits'; readonly hits: number }
  | { readonly kind: 'reserve'; readonly id: string; readonly hits: number }
  | { readonly kind: 'settle'; readonly id: string; readonly hits: number | undefined };

export interface Told {
  readonly code: 'OK' | 'OVER';
  readonly remaining: number;
}

interface Hold {
  readonly hits: number;
  readonly endMs: number;
}

/** The counter of one value of a rule. */
export function createRule(spec: RuleSpec) {
  const limits = spec.limits.map(createLimit);
  const open = new Map<string, Hold>();
  const blocked = createBlock(spec.block);

  const held = (): number => [...open.values()].reduce((sum, { hits }) => sum + hits, 0);
  /** What is left beside what is charged and held; of slots, those that are free. */
  const roomOf = (limit: LimitModel, nowMs: number): number =>
    limit.spec.kind === 'in_flight'
      ? (limit.spec.limit - open.size) * limit.spec.periodMs
      : limit.roomScaled(nowMs) - held() * limit.spec.periodMs;
  const chargeAll = (hits: number, nowMs: number): void => {
    for (const limit of limits) if (limit.spec.kind !== 'in_flight') limit.charge(hits, nowMs);
  };
  /** Leases that are over end in their order, each at its own moment. */
  const lapse = (nowMs: number): void => {
    const over = [...open].filter(([, { endMs }]) => endMs <= nowMs);
    for (const [id, { hits, endMs }] of over.sort(([, a], [, b]) => a.endMs - b.endMs)) {
      open.delete(id);
      if (spec.reserve?.unsettled === 'charge') chargeAll(hits, endMs);
    }
  };
  const admits = (limit: LimitModel, ask: Ask, nowMs: number): boolean => {
    const room = roomOf(limit, nowMs);
    const { periodMs, kind } = limit.spec;
    if (kind === 'in_flight') return ask.kind !== 'reserve' || room > 0;
    if (ask.kind === 'reserve' && ask.hits === 0) return room >= periodMs;
    if (ask.kind === 'hits' && ask.hits === 0) return room + held() * periodMs >= 0;
    return room >= (ask.hits ?? 0) * periodMs;
  };
  /** The limit with the smallest share left, of equals the one with the shorter period. */
  const left = (nowMs: number): number => {
    const shares = limits.map((limit) => {
      const whole = Math.max(0, Math.floor(roomOf(limit, nowMs) / limit.spec.periodMs));
      return { whole, size: limit.sizeScaled / limit.spec.periodMs, limit };
    });
    shares.sort(
      (a, b) =>
        a.whole * b.size - b.whole * a.size || a.limit.spec.periodMs - b.limit.spec.periodMs,
    );
    return shares[0]?.whole ?? 0;
  };
  const settle = (id: string, hits: number | undefined, nowMs: number): void => {
    const hold = open.get(id);
    open.delete(id);
    if (hold !== undefined) chargeAll(Math.max(0, hits ?? hold.hits), nowMs);
  };
  /** Whether it is admitted; what is admitted is charged or held. */
  const admit = (ask: Exclude<Ask, { kind: 'settle' }>, nowMs: number): boolean => {
    if (!limits.every((limit) => admits(limit, ask, nowMs))) return false;
    if (ask.kind === 'hits') chargeAll(ask.hits, nowMs);
    else open.set(ask.id, { hits: ask.hits, endMs: nowMs + (spec.reserve?.leaseMs ?? 0) });
    return true;
  };
  const refuse = ({ hits }: { readonly hits: number }, nowMs: number): Told => {
    for (const limit of limits) if (limit.spec.chargeDenied) limit.charge(hits, nowMs);
    blocked.strike(nowMs);
    return { code: 'OVER', remaining: 0 };
  };
  const ask = (asked: Ask, nowMs: number): Told => {
    lapse(nowMs);
    const ok = (): Told => ({ code: 'OK', remaining: left(nowMs) });
    if (asked.kind === 'settle') {
      settle(asked.id, asked.hits, nowMs);
      return ok();
    }
    if (asked.kind === 'reserve' && open.has(asked.id)) return ok();
    if (blocked.lasts(nowMs)) return { code: 'OVER', remaining: 0 };
    // Hits are given back whatever there is; the answer is that of a look after it.
    if (asked.hits < 0) {
      chargeAll(asked.hits, nowMs);
      return ask({ kind: 'hits', hits: 0 }, nowMs);
    }
    return admit(asked, nowMs) ? ok() : refuse(asked, nowMs);
  };
  return { ask };
}

/** Section 6: `after` refusals within a span begin a block; each following one is twice as long. */
function createBlock(spec: BlockSpec | undefined) {
  let spanEndMs = -Infinity;
  let strikes = 0;
  let untilMs = -Infinity;
  let lastedMs = 0;
  /** Of the last refusal. */
  let lastMs = -Infinity;
  return {
    lasts: (nowMs: number) => nowMs < untilMs,
    strike(nowMs: number) {
      if (spec === undefined) return;
      if (nowMs - Math.max(untilMs, lastMs) >= lastedMs) lastedMs = 0;
      lastMs = nowMs;
      if (nowMs >= spanEndMs) [spanEndMs, strikes] = [nowMs + spec.withinMs, 0];
      strikes += 1;
      if (strikes < spec.after) return;
      lastedMs = lastedMs === 0 ? spec.forMs : Math.min(lastedMs * 2, spec.upToMs);
      untilMs = nowMs + lastedMs;
      [spanEndMs, strikes] = [-Infinity, 0];
    },
  };
}
