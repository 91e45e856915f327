import { NO_BLOCK } from '../../../core/budgets/block';
import {
  isBudgetLimiter,
  type BudgetEntry,
  type BudgetLimiter,
} from '../../../core/budgets/budget';
import { entryState, type BlockState, type EntryState } from '../../../core/kinds/state';
import type { BudgetState, State } from '../../../core/kinds/kind';
import {
  readOperations,
  readCount,
  readCounterState,
  readFigure,
  type ScriptIncrement,
  type OperationsReply,
  type NumberReader,
} from '../operations-call';

/** Reads the unpacked answer of the script; throws a PackError where it has another form. */
export function readBudgetAnswer(
  answer: unknown,
  increments: readonly ScriptIncrement[],
): OperationsReply {
  return readOperations(answer, increments, (reader, limiter, atMicros) =>
    isBudgetLimiter(limiter)
      ? readBudgetState(reader, limiter, atMicros)
      : readCounterState(reader, limiter, atMicros),
  );
}

function readBudgetState(reader: NumberReader, { budget }: BudgetLimiter, atMicros: number): State {
  const { reserve, blocks: terms } = budget;
  const entries: EntryState[] = [];
  for (const entry of budget.entries) entries.push(readEntry(reader, entry, atMicros));
  const hasOpen = reserve !== undefined && readCount(reader) > 0;
  const held = hasOpen ? readCount(reader) : 0;
  const open = hasOpen ? readCount(reader) : 0;
  const was = hasOpen ? readWas(reader) : -1;
  const lapsed = hasOpen ? readCount(reader) : 0;
  const blocks = readBlocks(reader, terms.length);
  const state: BudgetState = { atMicros, entries, blocks, held, open, was, lapsed };
  return state;
}

const SLOTS: EntryState = entryState({ used: 0, previous: 0, elapsed: 0 }, 0);

function readEntry(
  reader: NumberReader,
  { limiter, isSlots, windowAt }: BudgetEntry,
  atMicros: number,
): EntryState {
  if (isSlots) return SLOTS;
  if (windowAt === undefined) return entryState(readCounterState(reader, limiter, atMicros), 0);
  const used = readCount(reader);
  return entryState({ used, previous: 0, elapsed: 0 }, readCount(reader));
}

function readWas(reader: NumberReader): number {
  return readFigure(reader, isHeld, 'what is held, or -1');
}

function isHeld(figure: unknown): boolean {
  return Number.isSafeInteger(figure) && (figure as number) >= -1;
}

/** Nearly all counters have no refusal to remember: they share one list per number of blocks. */
const QUIET: readonly (readonly BlockState[])[] = Array.from({ length: 10 }, (_, count) =>
  new Array<BlockState>(count).fill(NO_BLOCK),
);

function readBlocks(reader: NumberReader, count: number): readonly BlockState[] {
  let blocks: BlockState[] | undefined;
  for (let at = 0; at < count; at += 1) {
    const block = readBlock(reader);
    if (block !== NO_BLOCK) (blocks ??= [...(QUIET[count] as readonly BlockState[])])[at] = block;
  }
  return blocks ?? (QUIET[count] as readonly BlockState[]);
}

function readBlock(reader: NumberReader): BlockState {
  const quietMs = readCount(reader);
  if (quietMs === 0) return NO_BLOCK;
  const [strikes, spanEndMs] = [readCount(reader), readCount(reader)];
  return { strikes, spanEndMs, untilMs: readCount(reader), tookMs: readCount(reader), quietMs };
}
