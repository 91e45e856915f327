import { advanceBudget, unusedBudget, type Moment } from '../../src/core/budgets/advance';
import { believedBlocks, NO_BLOCK } from '../../src/core/budgets/block';
import { MAX_LAPSES, type Budget, type BudgetLimiter } from '../../src/core/budgets/budget';
import { chargeHits } from '../../src/core/budgets/commit';
import { blockName, recordOf, stateOf } from '../../src/core/budgets/record';
import { lifetimeMs } from '../../src/core/kinds/limiter';
import { SPARE_SECONDS } from '../../src/core/kinds/ticks';
import type { Operation, BudgetState } from '../../src/core/kinds/kind';
import type { BlockState } from '../../src/core/kinds/state';

interface OpenOne {
  readonly hits: number;
  endMs: number;
  isMet: boolean;
}

/** No key is kept for longer: ten thousand years and a second. */
const LONGEST_MS = 315_576_000_001_000;

const SPARE_MS = SPARE_SECONDS * 1_000;

/** One counter with a budget as Redis keeps it, by the arithmetic of core/budgets. */
export class BudgetCounter {
  /** What each part of its record says, those of other rules too, by its name. */
  readonly parts = new Map<string, string>();
  /** Whether another rule counts there that has other parts. */
  hadStrays = false;
  readonly open = new Map<string, OpenOne>();
  /** Until when its record has to be kept, by the last write. */
  lifeEndMs = 0;
  /** The same of what is open: until the last lease is over, and then as any charge of the rule that opened it. */
  openEndMs = 0;
  /** The same of the rule that was asked last: other rules ask after a reload, and keep the key for as long as they need it. */
  askedEndMs = 0;
  writtenMs = 0;
  /** The latest end so far that its key may have. */
  latestEndMs = 0;

  /** Where it stood before the ask. */
  apply(
    asked: Omit<Operation, 'limiter'> & { readonly limiter: BudgetLimiter },
    moment: Moment,
  ): BudgetState {
    const { limiter, reservation } = asked;
    const { budget } = limiter;
    const nowMs = Math.floor(moment.micros / 1_000);
    this.#believe(budget, nowMs);
    const due = [...this.open].filter(([, { endMs }]) => endMs <= nowMs);
    due.sort(([a, one], [b, other]) => one.endMs - other.endMs || (a < b ? -1 : 1));
    const lapses = due.slice(0, MAX_LAPSES);
    const ended = lapses.map(([, one]) => one);
    const found = this.#found(limiter, ended, moment, reservation);
    const whole: Operation = { ...asked, limiter: limiter };
    const after = limiter.kind.commit(whole, found) ?? found;
    for (const [id] of lapses) this.open.delete(id);
    this.#meet(whole, nowMs + (budget.reserve?.leaseMs ?? 0), after.open - found.open);
    if (
      this.#isCharged(budget, lapses.length) ||
      this.#isAstray(budget, moment) ||
      isChanged(found, after)
    )
      this.#write(limiter, after, nowMs);
    this.askedEndMs = Math.min(this.#endOfOpen(limiter, after), nowMs + LONGEST_MS);
    if (after.open > found.open) this.openEndMs = this.askedEndMs;
    return found;
  }

  /** What it says of the limits and blocks of a rule; undefined: nothing. */
  recordOf({ budget }: Pick<BudgetLimiter, 'budget'>): string | undefined {
    const known = namesOf(budget).flatMap((name) => {
      const found = [name, name.replace(/^l/, 's')].find((one) => this.parts.has(one));
      return found === undefined ? [] : [`${found} ${String(this.parts.get(found))};`];
    });
    return known.length === 0 ? undefined : known.join('');
  }

  #write(limiter: BudgetLimiter, after: BudgetState, nowMs: number): void {
    const names = new Set(namesOf(limiter.budget));
    for (const name of names) this.parts.delete(name);
    this.writtenMs = nowMs;
    this.lifeEndMs = 0;
    if (isUnused(after) && this.parts.size === 0) return;
    this.lifeEndMs = nowMs + lifetimeMs(limiter, after);
    for (const part of recordOf(limiter.budget, after).split(';').slice(0, -1)) {
      const at = part.indexOf(' ');
      this.parts.set(part.slice(0, at), part.slice(at + 1));
    }
  }

  /** No lease ends later than that of the rule, and some seconds. */
  #believe({ reserve }: Budget, nowMs: number): void {
    const latestMs = nowMs + (reserve?.leaseMs ?? 0) + SPARE_MS;
    for (const one of this.open.values()) one.endMs = Math.min(one.endMs, latestMs);
  }

  #isCharged({ reserve }: Budget, lapses: number): boolean {
    return lapses > 0 && reserve?.isReleased === false;
  }

  /** Whether a block says what no block of the rule can: it is written as it can be. */
  #isAstray(budget: Budget, moment: Moment): boolean {
    const nowMs = Math.floor(moment.micros / 1_000);
    const blocks = budget.blocks.map((terms): BlockState => {
      const figures = this.parts.get(blockName(budget, terms))?.split(' ').map(Number) ?? [];
      const [strikes = 0, spanEndMs = 0, untilMs = 0, tookMs = 0, quietMs = 0] = figures;
      return { strikes, spanEndMs, untilMs, tookMs, quietMs };
    });
    return believedBlocks(budget, blocks, nowMs) !== blocks;
  }

  #endOfOpen(limiter: BudgetLimiter, after: BudgetState): number {
    if (this.open.size === 0) return 0;
    const { budget } = limiter;
    const lastEndMs = Math.max(...[...this.open.values()].map(({ endMs }) => endMs));
    const blocks = budget.blocks.map(() => NO_BLOCK);
    const charged = { ...chargeHits(budget, after, this.held), blocks };
    return lastEndMs + (this.held === 0 ? 0 : lifetimeMs(limiter, charged));
  }

  #meet({ reservation, hits }: Operation, endMs: number, more: number): void {
    if (reservation === undefined) return;
    const { id, mode } = reservation;
    const one = this.open.get(id);
    if (more > 0) this.open.set(id, { hits: Number(hits), endMs, isMet: false });
    else if (more < 0) this.open.delete(id);
    else if (one !== undefined && mode === 'reserve') one.isMet = true;
  }

  get held(): number {
    return [...this.open.values()].reduce((sum, { hits }) => sum + hits, 0);
  }

  #found(
    { budget }: BudgetLimiter,
    lapses: readonly OpenOne[],
    moment: Moment,
    reservation: Operation['reservation'],
  ): BudgetState {
    const first = lapses[0] === undefined ? moment : { ...moment, micros: lapses[0].endMs * 1_000 };
    const record = [...this.parts].map(([name, text]) => `${name} ${text};`).join('');
    const kept = record === '' ? unusedBudget(budget, first) : stateOf(budget, record, first);
    if (kept === undefined) throw new Error(`not ours: ${record}`);
    const { held } = this;
    const state = advanceBudget(budget, { ...kept, held, open: this.open.size }, lapses, moment);
    const one = reservation && this.open.get(reservation.id);
    const isOpen = one !== undefined && !lapses.includes(one);
    if (!isOpen || (reservation?.mode === 'cancel' && one.isMet)) return state;
    return { ...state, was: one.hits };
  }
}

function namesOf(budget: Budget): readonly string[] {
  const blocks = budget.blocks.map((terms) => blockName(budget, terms));
  return [...budget.entries.map(({ id }) => id), ...blocks];
}

function isUnused({ entries, blocks }: BudgetState): boolean {
  const isEntryUnused = entries.every(({ used, previous }) => used === 0 && previous === 0);
  return isEntryUnused && blocks.every(({ quietMs }) => quietMs === 0);
}

function isChanged(found: BudgetState, after: BudgetState): boolean {
  return (['entries', 'blocks'] as const).some((list) =>
    after[list].some((one, at) => one !== found[list][at]),
  );
}
