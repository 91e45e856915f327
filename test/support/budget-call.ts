import type { Redis } from 'ioredis';
import type { OperationsReply, ScriptIncrement } from '../../src/counters/redis/operations-call';
import { readBudgetAnswer } from '../../src/counters/redis/budgets/budget-answer';
import { encodeBudgetCall } from '../../src/counters/redis/budgets/budget-call';
import { BUDGETS_SCRIPT } from '../../src/counters/redis/lua/scripts';
import { unpack } from '../../src/counters/redis/message-pack';
import { callScript } from '../../src/counters/redis/script-call';

interface BudgetCallOptions {
  /** The time of the server, in place of its own. */
  readonly nowMs?: number | undefined;
  /** When the process planned it. */
  readonly nowSeconds: number;
  readonly groupEnds?: readonly number[] | undefined;
  readonly isDeclaringKeys?: boolean | undefined;
}

/** One call of the script of budgets. */
export async function callBudgets(
  client: Redis,
  increments: readonly ScriptIncrement[],
  { nowMs, groupEnds, isDeclaringKeys = true, nowSeconds }: BudgetCallOptions,
): Promise<OperationsReply> {
  const now = nowMs === undefined ? {} : { nowMicros: nowMs * 1_000 };
  const args = encodeBudgetCall({ increments, groupEnds, nowSeconds, isDeclaringKeys, ...now });
  const answer = await callScript(client, BUDGETS_SCRIPT, args, 'eval');
  return readBudgetAnswer(unpack(answer as Buffer), increments);
}
