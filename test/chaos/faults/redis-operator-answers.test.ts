import type { Increment } from '../../../src/core/ports';
import type { KeyRules, RuleLimit } from '../../../src/core/rules/rules';
import { createRedisWriter, readRecordOf } from '../../../src/counters/redis/counter-writer';
import { listOpen } from '../../../src/counters/redis/open-reservations';
import { budgetOf } from '../../support/budgets';
import type { StateLimiter } from '../../support/limiters';
import { increment } from '../../support/increments';
import { GCRA, named, runs, start } from '../../support/edge/played-calls';
import {
  itPlaysAll,
  SILENT,
  splitMoved,
  TORN,
  type PlayedCommand,
} from '../../support/edge/played-commands';
import { NO_PERMISSION, OF_KEYS, REFUSALS, WRONG_SERVER } from '../../support/redis-answers';
import type { RunningRedisCounters } from '../../support/edge/redis-counters';
import { rulesOf } from '../../support/rules';

jest.setTimeout(60_000);

type Act = PlayedCommand['act'];

const ERRORS = [...REFUSALS, NO_PERMISSION, "ERR unknown command 'x'"];
const LOST = /lost the store/;

const FIXED = increment('k');
const PACED: Increment = { ...FIXED, rule: { ...FIXED.rule, limiter: GCRA } };
const LIMITS = [
  { unit: 'HOUR', requestsPerUnit: 9 },
  { unit: 'DAY', requestsPerUnit: 99 },
] as const;
const LISTED = counterOf(budgetOf(LIMITS));
const HELD = counterOf(budgetOf(LIMITS, { reserve: {} }));

function counterOf(budget: ReturnType<typeof budgetOf>): Increment {
  const { top } = rulesOf('d', [{ key: 'k', ...budget }]).domains.get('d') ?? {};
  const rule = (top as KeyRules).anyValue?.limit as RuleLimit;
  return increment('k', 0, { rule, limiter: rule.limiter });
}

async function mustChange(changes: Promise<readonly unknown[]>): Promise<void> {
  for (const failure of await changes) if (failure !== undefined) throw failure as Error;
}
const remove =
  (one: Increment): Act =>
  (counters) =>
    mustChange(createRedisWriter(counters).remove([one]));
const set =
  (one: Increment, limit?: string): Act =>
  (counters) =>
    mustChange(createRedisWriter(counters).set([one], 1, Date.now() / 1_000, limit));

async function look(counters: RunningRedisCounters): Promise<void> {
  const error = (await counters.peek(['k'])).get('k')?.error;
  if (error !== undefined) throw error;
}
const list: Act = (counters) => listOpen(counters, HELD, 1);
const lookAtHeld: Act = (counters) => readRecordOf(counters, 'k', HELD.limiter as StateLimiter);

/** What the script that reads open reservations answers where there are none. */
const NOTHING_OPEN = `*9\r\n$-1\r\n:-2\r\n:1795240200\r\n${':0\r\n'.repeat(6)}`;

const about = { start: start(), who: 'the operator, who gets the error' } as const;
const byCommand = {
  ...about,
  command: '`GET`, `PTTL` to show a counter; `DEL`, `PSETEX`, `PTTL`, `TIME` to change one',
  is: named('get'),
  act: look,
  alike: [
    { is: named('pttl'), act: look },
    { is: named('del'), act: remove(FIXED) },
    { is: named('psetex'), act: set(FIXED) },
    { is: named('pttl'), act: set(FIXED) },
    { is: named('time'), act: set(PACED) },
  ],
} as const;
const byScript = {
  ...about,
  command: '`EVAL` to show or change a counter of several limits, or with reservations',
  is: runs('eval'),
  act: lookAtHeld,
  besides: (words: readonly string[]) => (runs('eval')(words) ? NOTHING_OPEN : undefined),
  alike: [list, remove(HELD), set(HELD), set(HELD, 'hour'), set(LISTED, 'hour')].map((act) => ({
    is: runs('eval'),
    act,
  })),
} as const;

itPlaysAll([
  [
    'Redis, answers to operators',
    [byCommand, byScript].flatMap((row): readonly PlayedCommand[] => [
      ...splitMoved({ ...row, answers: [...ERRORS, ...OF_KEYS], sees: 'UNAVAILABLE' }),
      { ...row, answers: [...WRONG_SERVER, ...TORN], sees: 'UNAVAILABLE', says: LOST },
      { ...row, answers: SILENT, sees: 'DEADLINE_EXCEEDED', says: LOST },
    ]),
  ],
]);
