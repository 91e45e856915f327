import { COUNTED } from '../../../src/counters/redis/store-errors';
import { startStopwatch } from './core-time';
import { eventually } from './eventually';
import { eventuallyWithin, expectFigure } from './figure';
import { backIn, COLUMN, STATUS, type Drill, type Status } from './fault-drill';
import { readStatistics } from '../read-statistics';

/** How soon calls are right again once the server answers rightly. */
export const WELL = {
  atOnce: 'at once',
  reconnected: 'within 2.5 s, by a new connection',
  askedAgain: 'within 6 s: scripts are asked for again',
} as const;

const ASKED_AGAIN_MS = 6_000;

const STATISTICS = 'ratelimit.service.call.should_rate_limit';

/** A command, the errors that its server can answer it with, and what comes of each of them. One row of docs/internals/faults.md. */
export interface AnswerFault {
  /** What is sent, and what for. */
  readonly command: string;
  /** Errors in the server's words, all of which come to the same. */
  readonly answers: readonly string[];
  /** What the callers of this counter see, at once; undefined: an answer. */
  readonly sees: Status | undefined;
  /** What else the table says of what callers see. */
  readonly also?: string;
  /** What the log says besides the server's words; undefined: nothing of it. */
  readonly says: RegExp | undefined;
  /** The log tells it in words of ours alone, once the server's were said. */
  readonly isReworded?: boolean;
  /** The statistics that count it, without their prefix: one for each failed call. */
  readonly counts: readonly ('redis_error' | 'store_unknown_outcome')[];
  readonly well: keyof typeof WELL;
}

/** A call takes no longer, whatever the server answers. */
const LONGEST_CALL_MS = 1_000;

/** By what the table names an answer. */
export const firstWords = (answer: string): string => {
  const [first = '', second = '', third = ''] = answer.replace(COUNTED, '').split(' ');
  return first === 'ERR' || first === '@user_script:' ? `${first} ${second} ${third} …` : first;
};

/** A test whose name is the row of its fault in docs/internals/faults.md. */
export function itAnswers(row: AnswerFault, run: () => Promise<void>): void {
  const { command, answers, sees, also, says, counts, well } = row;
  const sight = sees === undefined ? 'nothing of it' : `\`${sees}\` at once`;
  const parts = [
    command,
    [...new Set(answers.map(firstWords))].map((each) => `\`${each}\``).join(', '),
    also === undefined ? sight : `${sight}, ${also}`,
    says === undefined ? 'nothing' : `\`${says.source}\``,
    counts.length === 0 ? 'nothing' : counts.map((name) => `\`${name}\``).join(', '),
    WELL[well],
  ];
  it(parts.join(COLUMN), run);
}

/** A server that a test plays, and the counter that is asked for. */
export interface AnswerDrill {
  readonly drill: Drill;
  /** From now on the server answers like this; undefined: rightly. */
  readonly answer: (error: string | undefined) => void;
  /** The key of a rule of the drill. */
  readonly key: string;
  /** The key of a rule that fails while anything is still amiss; `key` when undefined. */
  readonly wellKey?: string;
}

let serial = 0;

/** Plays each answer of a row, and sees that what comes of it is what the row says. */
export async function playAnswers(
  { answers, sees, says, isReworded = false, counts, well }: AnswerFault,
  { drill, answer, key, wellKey = key }: AnswerDrill,
): Promise<void> {
  const ask = (rule = key) => drill.ask(rule, `caller${String((serial += 1))}`);
  const isAskedAgain = well === 'askedAgain';
  const untilWell = () =>
    eventuallyWithin(
      async () => {
        expect(await ask(wellKey)).toMatchObject({ code: 0 });
      },
      isAskedAgain ? { ...backIn(drill), belowMs: ASKED_AGAIN_MS } : backIn(drill),
    );
  const countsNow = async () => {
    const statistics = await readStatistics(drill.service);
    return counts.map((name) => statistics.get(`${STATISTICS}.${name}`) ?? 0);
  };
  for (const each of answers) {
    await untilWell();
    const before = await countsNow();
    const logged = drill.service.output().length;
    const log = () => drill.service.output().slice(logged);
    answer(each);
    const elapsedMs = startStopwatch(drill.service.child);
    const { code } = await ask();
    expectFigure({ name: 'call', value: elapsedMs(), unit: 'ms', below: LONGEST_CALL_MS });
    expect([each, code]).toEqual([each, sees === undefined ? 0 : STATUS[sees]]);
    await eventually(async () => {
      if (says !== undefined) expect(log()).toMatch(says);
      if (sees !== undefined && !isReworded) expect(log()).toContain(toLogged(each));
      const more = (await countsNow()).map((now, at) => now - (before[at] ?? 0));
      expect([each, ...more]).toEqual([each, ...counts.map(() => 1)]);
    });
    answer(undefined);
    if (well === 'atOnce') expect([each, (await ask()).code]).toEqual([each, 0]);
    else await untilWell();
  }
}

/** The server's words as a line of the log has them: without what our scripts or old servers write before them. */
function toLogged(answer: string): string {
  const words = answer.replace(COUNTED, '').replace(/^@user_script: \d+: -/, '');
  return JSON.stringify(words).slice(1, -1);
}
