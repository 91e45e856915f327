import type { BlockState, BudgetState, EntryState } from '../kinds/state';
import { advanceBudget, unusedBudget, type Moment } from './advance';
import { NO_BLOCK } from './block';
import { entryState } from './states';
import type { Budget, BudgetEntry } from './budget';

/*
 * The record of a counter (budgets.md section 8): `<id> <figures>;` for each limit, and `b<entry> <figures>;` for each block that
 * says something. A part is found by its name, so that a changed limit keeps what was used. Redis keeps it packed (see `SAVE_LUA`), and says it
 * as this text to operators.
 */

/** The record of a counter as it stands. */
export function recordOf({ entries, blocks }: Budget, state: BudgetState): string {
  const parts = entries.map((_, at) => partAt({ entries }, state, at));
  const blocked = blocks.map(({ entry }, at) =>
    blockPart(blockName(entry), state.blocks[at] as BlockState),
  );
  return [...parts, ...blocked].join('');
}

/** The name of a block's part: `b` of the rule, `b0` of its first limit. */
export function blockName(entry: number): string {
  return entry === -1 ? 'b' : `b${String(entry)}`;
}

/** The part of the limit at this place, with its name. */
export function partAt(
  { entries }: Pick<Budget, 'entries'>,
  state: BudgetState,
  at: number,
): string {
  const { id, gate, isSlots, windowAt } = entries[at] as BudgetEntry;
  const one = state.entries[at] as EntryState;
  const { atMicros } = state;
  if (isSlots) return '';
  if (windowAt !== undefined) return `${id} ${String(one.used)} ${String(one.endSeconds)};`;
  return `${id} ${gate.kind.encode(gate, one, Math.floor(atMicros / gate.tickMicros))};`;
}

function blockPart(
  name: string,
  { strikes, spanEndMs, untilMs, tookMs, quietMs }: BlockState,
): string {
  if (quietMs === 0) return '';
  return `${name} ${[strikes, spanEndMs, untilMs, tookMs, quietMs].join(' ')};`;
}

/** The state that a record says, at a moment; undefined: it was not written by this kind. */
export function stateOf(budget: Budget, record: string, moment: Moment): BudgetState | undefined {
  const parts = partsOf(record);
  if (parts === undefined) return undefined;
  const unused = unusedBudget(budget, moment);
  const entries: EntryState[] = [];
  for (const [at, entry] of budget.entries.entries()) {
    const text = parts.get(entry.id);
    const state = text === undefined ? unused.entries[at] : entryOf(entry, text, moment);
    if (state === undefined) return undefined;
    entries.push(state);
  }
  const blocks = budget.blocks.map(({ entry }) => blockOf(parts.get(blockName(entry))));
  return advanceBudget(budget, { ...unused, entries, blocks }, [], moment);
}

function partsOf(record: string): ReadonlyMap<string, string> | undefined {
  if (!/^(?:[^ ;]+(?: \d+)+;)*$/.test(record)) return undefined;
  return new Map(
    record
      .split(';')
      .slice(0, -1)
      .map((part) => [part.slice(0, part.indexOf(' ')), part.slice(part.indexOf(' ') + 1)]),
  );
}

function entryOf(
  { gate, windowAt }: BudgetEntry,
  text: string,
  { micros }: Moment,
): EntryState | undefined {
  if (windowAt === undefined) {
    const state = gate.kind.decode(gate, text, Math.floor(micros / gate.tickMicros));
    return state && entryState(state, 0);
  }
  const [used, endSeconds, ...more] = text.split(' ').map(Number);
  if (used === undefined || endSeconds === undefined || more.length > 0) return undefined;
  return { used, previous: 0, elapsed: 0, endSeconds };
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
