import { setTimeout as delay } from 'node:timers/promises';
import { createTestClient } from './grpc-client';
import { startStopwatch } from './core-time';
import { eventually } from './eventually';
import { eventuallyWithin, expectFigure, type WithinOptions } from './figure';
import { createTemporaryDirectory } from '../rule-directory';
import { startService, type Service } from './service';

/** What callers of the service see besides answers: gRPC status codes. */
export const STATUS = { DEADLINE_EXCEEDED: 4, UNAVAILABLE: 14 } as const;
export type Status = keyof typeof STATUS;

/** Of a store that hangs: those who wait see the time-out, all others are answered at once. */
export const HUNG = ['DEADLINE_EXCEEDED', 'UNAVAILABLE'] as const;

/** What becomes of the counters. */
export const COUNTS = {
  exact: 'every answered hit once, no failed hit',
  unsure: 'every answered hit once, a failed hit once or not at all',
  replicated: 'what was replicated, and from then on as ever; a failed hit once or not at all',
  behind: 'no failed hit; of the answered ones the last few may be lost',
  refused: 'no failed hit; those answered meanwhile are lost',
  lost: 'lost by the store; no failed hit',
} as const;

/** One fault, what the caller sees of it and what becomes of the counters. */
export interface Fault {
  readonly fault: string;
  /** Every status that callers see meanwhile, besides answers. */
  readonly sees: readonly Status[];
  readonly counts: keyof typeof COUNTS;
  /** They need not be seen: it is over before most calls notice. */
  readonly isBrief?: boolean;
  /** What else the table says of what callers see. */
  readonly also?: string;
}

/** A call takes no longer, whatever happens. */
const LONGEST_CALL_MS = 1_000;

/** Calls are right again this long after the store is, at the latest. */
const BACK_WITHIN_MS = 2_500;
export const backIn = ({ service }: Pick<Drill, 'service'>): WithinOptions => ({
  name: 'right again',
  belowMs: BACK_WITHIN_MS,
  of: [service.child],
});

const YEAR_SECONDS = 365 * 86_400;

/** The counter of a caller of the drill. */
export function keyOf(value: string, key = 'user'): string {
  const now = Date.now() / 1_000;
  return `drill_${key}_${value}_${String(Math.floor(now / YEAR_SECONDS) * YEAR_SECONDS)}`;
}

/** The words between the parts of a test's name, which are the columns of docs/internals/faults.md. */
export const COLUMN = ' → ';

/** A test whose name is the row of its fault in docs/internals/faults.md. */
export function itSees(
  { fault, sees, counts, isBrief, also }: Fault,
  run: () => Promise<void>,
): void {
  const [first = 'nothing of it', second] = sees.map((status) => `\`${status}\``);
  const only = isBrief === true ? `nothing of it, or ${first} for a moment` : first;
  const words = second === undefined ? only : `${first}, then ${second} at once`;
  it([fault, also === undefined ? words : `${words}, ${also}`, COUNTS[counts]].join(COLUMN), run);
}

/** The built service with settings as a user gives them, and rules for a drill, and more lines of them. */
export async function startDrill(env: Readonly<Record<string, string>>, moreRules = '') {
  const rules = createTemporaryDirectory();
  const policies = ['error', 'allow', 'deny', 'local']
    .map((policy) => `  - { key: ${policy}, on_store_error: ${policy}, rate_limit: *limit }\n`)
    .join('');
  rules.write(
    'config/drill.yaml',
    `domain: drill
descriptors:
  - { key: user, rate_limit: { unit: year, requests_per_unit: 1000000000 } }
  - { key: plain, rate_limit: &limit { unit: year, requests_per_unit: 4 } }
${policies}${moreRules}`,
  );
  const service = await startService({
    waitUntilUp: 'connected',
    env: {
      RUNTIME_ROOT: rules.path,
      LOG_LEVEL: 'debug',
      ...env,
    },
  });
  const client = createTestClient(service.grpc);
  return {
    service,
    ask: (key: string, value: string) =>
      client.ask({ domain: 'drill', descriptors: [{ entries: [{ key, value }] }] }),
    async stop() {
      client.close();
      await service.stop();
      rules.remove();
    },
  };
}
export type Drill = Awaited<ReturnType<typeof startDrill>>;

/**
 * The time-out of the store, as issued for one that hangs. Where it does not hang callers see no time-out, and a busy
 * machine shall make none either.
 */
export function patienceFor({ sees }: Pick<Fault, 'sees'>): Readonly<Record<string, string>> {
  return { KVSTORE_TIMEOUT: sees.includes('DEADLINE_EXCEEDED') ? '300ms' : '2s' };
}

/** Callers that ask all the time until they are told to stop. */
export function startLoad({ ask, service }: Drill, value: string) {
  const errors: { readonly code: number; readonly details: string }[] = [];
  const logged = service.output().length;
  let calls = 0;
  let answered = 0;
  let slowestMs = 0;
  let lastAnswerMs = -Infinity;
  let isStopped = false;
  const work = async (): Promise<void> => {
    while (!isStopped) {
      calls += 1;
      const elapsedMs = startStopwatch(service.child);
      const { code, details } = await ask('user', value);
      slowestMs = Math.max(slowestMs, elapsedMs());
      if (code === 0) {
        answered += 1;
        lastAnswerMs = performance.now();
      } else errors.push({ code, details });
      await delay(2);
    }
  };
  const done = Promise.all(Array.from({ length: 4 }, work));
  const self = {
    get calls() {
      return calls;
    },
    get answered() {
      return answered;
    },
    get slowestMs() {
      return slowestMs;
    },
    get lastAnswerMs() {
      return lastAnswerMs;
    },
    errors,
    /** Waits until so many more were answered. */
    async untilAnswered(more: number, limit?: WithinOptions) {
      const most = answered + more;
      const check = () => {
        if (answered < most)
          throw new Error(`${String(answered)} of ${String(most)} answers: ${last(errors)}`);
      };
      await (limit === undefined ? eventually(check) : eventuallyWithin(check, limit));
    },
    /** Waits until callers have seen all of these, and the log has the words that name the fault: callers do not get them. */
    async untilSeen(sees: readonly Status[], says = /(?:)/) {
      await eventually(() => {
        expect(seen(errors)).toEqual(expect.arrayContaining([...sees]));
        expect(service.output().slice(logged)).toMatch(says);
      });
    },
    async stop() {
      isStopped = true;
      await done;
    },
    /** Callers have seen nothing else than these, and none has waited for long. */
    expectSeen(sees: readonly Status[]) {
      const others = seen(errors).filter((each) => !(sees as readonly string[]).includes(each));
      expect([others, last(errors)]).toEqual([[], last(errors)]);
      const below = LONGEST_CALL_MS;
      expectFigure({ name: 'longest call', value: slowestMs, unit: 'ms', below });
    },
    /** The counter holds what became of the hits, and of those before them. */
    expectCounted(
      count: number,
      counts: Fault['counts'],
      before: { readonly answered: number; readonly calls: number } = { answered: 0, calls: 0 },
    ) {
      const isExact = counts === 'exact';
      if (isExact || counts === 'unsure')
        expect(count).toBeGreaterThanOrEqual(before.answered + answered);
      const isUnsure = counts === 'unsure' || counts === 'replicated';
      expect(count).toBeLessThanOrEqual(before.calls + (isUnsure ? calls : answered));
    },
  };
  return self;
}

function seen(errors: readonly { readonly code: number }[]): readonly string[] {
  const codes = new Set(errors.map(({ code }) => code));
  return [...codes].map((code) => nameOf(code)).sort();
}

function nameOf(code: number): string {
  return Object.entries(STATUS).find(([, each]) => each === code)?.[0] ?? String(code);
}

function last(errors: readonly { readonly details: string }[]): string {
  return errors.at(-1)?.details ?? 'no error';
}

/** Healthy without anybody's help. */
export async function untilHealthy(drill: { readonly service: Service }): Promise<void> {
  await eventuallyWithin(async () => {
    expect((await fetch(`${drill.service.http}/healthcheck`)).status).toBe(200);
  }, backIn(drill));
}

export interface DrillRun {
  /** What the log says of it. */
  readonly says?: RegExp | undefined;
  readonly drill: Drill;
  readonly value: string;
  readonly count: () => Promise<number>;
  readonly mount: () => unknown;
  /** Takes the fault away; calls must be right from then on. */
  readonly clear: () => unknown;
}

/** Mounts a fault under load, takes it away, and sees what the row says. */
export async function runDrill(
  { sees, counts }: Pick<Fault, 'sees' | 'counts'>,
  { drill, value, says, count, mount, clear }: DrillRun,
): Promise<void> {
  // What was connected again after the fault before may have been another connection than this caller's.
  const before = { answered: 1, calls: 0 };
  await eventuallyWithin(async () => {
    before.calls += 1;
    expect(await drill.ask('user', value)).toMatchObject({ code: 0 });
  }, backIn(drill));
  const load = startLoad(drill, value);
  await load.untilAnswered(20);
  await mount();
  if (sees.length === 0) await load.untilAnswered(50);
  else await load.untilSeen(sees, says);
  await clear();
  await load.untilAnswered(20, backIn(drill));
  await load.stop();
  load.expectSeen(sees);
  await untilHealthy(drill);
  await eventuallyWithin(async () => {
    load.expectCounted(await count(), counts, before);
  }, backIn(drill));
}
