import { batch, freshKey, increment } from '../../contract/counters.contract';
import { ask, slowRule } from '../algorithm-increments';
import { budgetEntry, budgetLimiterOf } from '../budget-arbitraries';
import { runRedisCounters, type RunningRedisCounters } from './redis-counters';

export const GCRA = slowRule('gcra');
export const only = (text: string) => [increment(text)];

/** Adds, and fails as the first increment that failed does. */
export async function addAll(counters: RunningRedisCounters, ...all: Parameters<typeof batch>) {
  const { failures } = await counters.add(batch(...all));
  for (const failure of failures?.values() ?? []) throw failure;
}
export const addFixed = (counters: RunningRedisCounters) => addAll(counters, only(freshKey()));
export const addHeldBack = (counters: RunningRedisCounters) =>
  addAll(counters, only(freshKey()), [1]);
const HELD = budgetLimiterOf({
  entries: [budgetEntry({ sort: 'gcra', limit: 10, periodSeconds: 60 })],
  reserve: { leaseMs: 60_000, isReleased: false },
});
export const addBudget = (counters: RunningRedisCounters) =>
  addAll(counters, [increment(`{c:${freshKey()}~1}~r`, 1, { limiter: HELD })]);
export const addGcra = (counters: RunningRedisCounters) =>
  addAll(counters, [ask(GCRA, freshKey())]);
const SLIDING = slowRule('sliding_window', 1_000);
export const addSliding = (counters: RunningRedisCounters) =>
  addAll(counters, [ask(SLIDING, freshKey())]);

type Options = Partial<Parameters<typeof runRedisCounters>[0]>;

/** How counters on a server that a test plays are started. */
export const start =
  (options: Options = {}, deps?: Parameters<typeof runRedisCounters>[1]) =>
  (port: number, timeoutMs: number) =>
    runRedisCounters(
      { address: { kind: 'tcp', host: '127.0.0.1', port }, timeoutMs, ...options },
      deps,
    );

export const named =
  (name: string) =>
  ([word]: readonly string[]): boolean =>
    word?.toLowerCase() === name;

/** A script that is called with nothing does nothing: so a server is asked whether it takes scripts. */
const isQuestion = (words: readonly string[]): boolean => words.length === 3;
export const asksForScripts = (name: string) => (words: readonly string[]) =>
  named(name)(words) && isQuestion(words);
export const runs = (name: string) => (words: readonly string[]) =>
  named(name)(words) && !isQuestion(words);
