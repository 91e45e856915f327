import { changedValues, expectTtl, expectUntouched, type Counts } from './counts';
import { expectAgreement, type Explained } from './explained';
import type { Scenario, Step } from './scenario';

/** A running service whose clock stands where the test puts it. */
export interface Replayable {
  /** Its counters so far, by the names of the statistics. */
  counted(): Promise<ReadonlyMap<string, number>>;
  setClock(seconds: number): void;
  /** Tells the whole seconds, rounded up, that have passed for its stores since then. */
  startClock(): () => number;
  /** The answer to a step in the words of its recording. */
  perform(step: Step): Promise<Partial<Step>>;
  /** What the operator API says of the step's request; undefined when it has none. Without it nobody is asked. */
  readonly explain?: (step: Step) => Promise<Explained | undefined>;
  close(): Promise<void>;
}

type ReadStores = () => Promise<readonly Counts[]>;

/** Performs every step and compares the answer, the keys that changed and the statistics at the end. */
export async function replay(
  { steps, stats, statsIgnore = [] }: Scenario,
  replayer: Replayable,
  read: ReadStores,
  beforeClose: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  let before: readonly Counts[] = [];
  // A step that is answered without the store leaves a key's time to live as an earlier one set it.
  const passedSeconds = replayer.startClock();
  for (const [index, step] of steps.entries()) {
    replayer.setClock(step.at);
    const explained = await explain(replayer, step, read);
    const answer = await replayer.perform(step);
    if (explained !== undefined) expectAgreement(explained, answer, index);
    const after = await read();
    expect({ index, ...answerOf(answer, step) }).toEqual({ index, ...answerOf(step, step) });
    const changes = after.map((counts, store) => changedValues(before[store], counts));
    expect({ index, changes }).toEqual({ index, changes: expectedChanges(step, after.length) });
    const all = new Map(after.flatMap((counts) => [...counts]));
    for (const [key, range] of Object.entries(step.ttl))
      expectTtl(all, key, range, passedSeconds());
    before = after;
  }
  await beforeClose();
  const counters = await replayer.counted();
  await replayer.close();
  if (stats === undefined) return;
  const isCompared = (name: string) =>
    /^ratelimit(\.service|_server)\./.test(name) &&
    !statsIgnore.some((prefix) => name.startsWith(prefix));
  const counted = [...counters].filter(
    ([name, value]) => value !== 0 && isCompared(name) && !isOurOwn(name),
  );
  expect(Object.fromEntries(counted)).toEqual(
    Object.fromEntries(Object.entries(stats).filter(([name]) => isCompared(name))),
  );
}

/** Asks beforehand what a step will be answered, which changes nothing in the stores. */
async function explain(
  replayer: Replayable,
  step: Step,
  read: ReadStores,
): Promise<Explained | undefined> {
  if (replayer.explain === undefined) return undefined;
  const passedSeconds = replayer.startClock();
  const before = await read();
  const explained = await replayer.explain(step);
  expectUntouched(before, await read(), passedSeconds());
  return explained;
}

/** Unlimited rules count on purpose where the reference counts nothing (behaviour.md §6.1). */
function isOurOwn(name: string): boolean {
  return /\.rate_limit\.(u\.free|u\.free2_vip|u\.freeze\.who_staff)\.[a-z_]+$/.test(name);
}

const ANSWER = ['response', 'error', 'status', 'contentType', 'body', 'lines', 'loads'] as const;

/** The parts of an answer that the recording fixes. */
function answerOf(answer: Partial<Step>, { loose = [] }: Step): Partial<Step> {
  const fixed = ANSWER.filter((part) => answer[part] !== undefined && !loose.includes(part));
  return Object.fromEntries(
    fixed.map((part) => [
      part,
      part === 'contentType' ? mediaType(answer[part]) : withoutWelcome(answer[part]),
    ]),
  );
}

const WELCOME: ReadonlySet<string> = new Set(['limitedBy', 'limitedByName']);

/** What answers of ours have besides: the rule that decided, in the metadata. */
function withoutWelcome(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, part: unknown) => (WELCOME.has(name) ? undefined : part)),
  ) as unknown;
}

function mediaType(contentType = ''): string {
  return contentType.split(';')[0] ?? '';
}

/** A single store holds what the recording has in two. */
function expectedChanges({ keys, perSecondKeys }: Step, stores: number): readonly object[] {
  return stores === 1 ? [{ ...keys, ...perSecondKeys }] : [keys, perSecondKeys ?? {}];
}
