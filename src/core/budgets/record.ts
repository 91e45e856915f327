import type { CounterState, Kind } from '../kinds/kind';
import { type BlockState, type BudgetState, type EntryState, entryState } from '../kinds/state';
import { advanceBudget, unusedBudget, type Moment } from './advance';
import { NO_BLOCK } from './block';
import type { BlockTerms, Budget, BudgetEntry } from './budget';

/*
 * The record of a counter (budgets.md section 8): `<id> <figures>;` for each limit, and `b:<id> <figures>;` for each block with a
 * state. Parts are found by name, so that a changed limit keeps its usage. Redis stores it packed (save.lua), a log in parts
 * of eight figures (`l60`, `l60+1`), and shows operators this text.
 */

/** The record of a counter as it stands. */
export function recordOf(budget: Budget, state: BudgetState): string {
  const parts = budget.entries.map((_, at) => partAt(budget, state, at));
  const blocked = budget.blocks.map((terms, at) =>
    blockPart(blockName(budget, terms), state.blocks[at] as BlockState),
  );
  return [...parts, ...blocked].join('');
}

/** The name of a block's part: `b` of the rule, `b:g60` of one of its limits. */
export function blockName({ entries }: Pick<Budget, 'entries'>, { entry }: BlockTerms): string {
  return entry === -1 ? 'b' : `b:${(entries[entry] as BudgetEntry).id}`;
}

/** The name in 1.0.0-rc.1, by the index of its limit: `b0`. */
export function oldBlockName({ entry }: BlockTerms): string {
  return entry === -1 ? 'b' : `b${String(entry)}`;
}

/** The part of the limit at this index, with its name. */
export function partAt(
  { entries }: Pick<Budget, 'entries'>,
  state: BudgetState,
  at: number,
): string {
  const { id, limiter, isSlots, windowAt } = entries[at] as BudgetEntry;
  const one = state.entries[at] as EntryState;
  const { atMicros } = state;
  if (isSlots) return '';
  if (windowAt !== undefined) return `${id} ${String(one.used)} ${String(one.endSeconds)};`;
  const figures = limiter.kind.encode(limiter, one, Math.floor(atMicros / limiter.tickMicros));
  // An empty log is written too: no other part represents it.
  return `${id} ${figures === '' ? '0' : figures};`;
}

function blockPart(
  name: string,
  { strikes, spanEndMs, untilMs, tookMs, quietMs }: BlockState,
): string {
  if (quietMs === 0) return '';
  return `${name} ${[strikes, spanEndMs, untilMs, tookMs, quietMs].join(' ')};`;
}

/** The state in a record at a moment; undefined: another kind wrote it. */
export function stateOf(budget: Budget, record: string, moment: Moment): BudgetState | undefined {
  const parts = partsOf(record);
  if (parts === undefined) return undefined;
  const unused = unusedBudget(budget, moment);
  const entries: EntryState[] = [];
  for (const [at, entry] of budget.entries.entries()) {
    const text = parts.get(entry.id);
    const state =
      text === undefined
        ? (inherited(entry, parts, moment) ?? unused.entries[at])
        : entryOf(entry, text, moment);
    if (state === undefined) return undefined;
    entries.push(state);
  }
  const blocks = budget.blocks.map((terms) =>
    blockOf(parts.get(blockName(budget, terms)) ?? parts.get(oldBlockName(terms))),
  );
  return advanceBudget(budget, { ...unused, entries, blocks }, [], moment);
}

function partsOf(record: string): ReadonlyMap<string, string> | undefined {
  if (!/^(?:[^ ;]+(?: \d+)+;)*$/.test(record)) return undefined;
  const parts = new Map<string, string>();
  for (const part of record.split(';').slice(0, -1)) {
    const [name = '', ...figures] = part.split(' ');
    const log = /^(l\d+)(?:\+\d+)?$/.exec(name)?.[1];
    if (log === undefined) parts.set(name, figures.join(' '));
    else parts.set(log, joined(parts.get(log), figures));
  }
  return parts;
}

/** The hits of a log, whose last part is filled with zeros. */
function joined(before: string | undefined, figures: readonly string[]): string {
  const times = figures.filter((figure) => Number(figure) > 0);
  return [...(before === undefined || before === '' ? [] : [before]), ...times].join(' ');
}

function entryOf(
  { limiter, windowAt }: BudgetEntry,
  text: string,
  { micros }: Moment,
): EntryState | undefined {
  if (windowAt === undefined) {
    if (text === '') return entryState(limiter.kind.ofHits(limiter, 0, 0), 0);
    const state = limiter.kind.decode(limiter, text, Math.floor(micros / limiter.tickMicros));
    return state && entryState(state, 0);
  }
  const [used, endSeconds, ...more] = text.split(' ').map(Number);
  if (used === undefined || endSeconds === undefined || more.length > 0) return undefined;
  return { used, previous: 0, elapsed: 0, endSeconds };
}

/** The state of a limit whose counter was written by another kind. */
function inherited(
  { limiter, id, windowAt }: BudgetEntry,
  parts: ReadonlyMap<string, string>,
  { micros }: Moment,
): EntryState | undefined {
  const { heirOf, letter }: Kind<CounterState> = limiter.kind;
  if (heirOf === undefined || windowAt !== undefined) return undefined;
  const text = parts.get(heirOf.letter + id.slice(letter.length));
  if (text === undefined) return undefined;
  const state = heirOf.decode(limiter, text, Math.floor(micros / limiter.tickMicros));
  return state && entryState(state, 0);
}

function blockOf(text: string | undefined): BlockState {
  const [strikes, spanEndMs, untilMs, tookMs, quietMs] = (text ?? '').split(' ').map(Number);
  if (quietMs === undefined) return NO_BLOCK;
  return {
    strikes: strikes as number,
    spanEndMs: spanEndMs as number,
    untilMs: untilMs as number,
    tookMs: tookMs as number,
    quietMs,
  };
}
