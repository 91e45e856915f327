import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../core/ports';
import { mustRetry, readRuleFiles } from './read-rule-files';
import { surveyDirectory, type DirectoryOptions, type Survey } from './survey';

/** A set of files that is still being written after this many reads is used as it is; its next change reloads. */
const MAX_READS = 5;
/** File systems stamp changes with a clock that ticks every few milliseconds: two changes in one tick look like one. */
const TICK_MS = 20;

/**
 * Reads all rule files so that they belong together: again when one of them, or the target of a link, changed meanwhile.
 * `isDoubtful`: the files may since differ although a survey looks the same. Undefined when the survey has the fingerprint `seen`.
 */
export async function readSettled(
  options: DirectoryOptions & { readonly maxBytes: number },
  seen: string | undefined,
  clock: Clock,
  signal: AbortSignal,
) {
  let survey = await surveyDirectory(options);
  if (survey.fingerprint === seen) return undefined;
  for (let reads = 1; ; reads += 1) {
    const isYoung = isWithinTick(survey, clock());
    if (isYoung) {
      await delay(TICK_MS, undefined, { signal });
      survey = await surveyDirectory(options);
    }
    const isDoubtful = isYoung && isWithinTick(survey, clock());
    const found = await readRuleFiles(survey, options.maxBytes);
    signal.throwIfAborted();
    const after = await surveyDirectory(options);
    if (after.fingerprint === survey.fingerprint && !isDoubtful) {
      return { survey, found, isDoubtful: mustRetry(found) };
    }
    if (reads === MAX_READS) return { survey, found, isDoubtful: true };
    survey = after;
  }
}

function isWithinTick({ changedAtSeconds }: Survey, nowSeconds: number): boolean {
  return Math.abs(nowSeconds - changedAtSeconds) * 1_000 < TICK_MS;
}
