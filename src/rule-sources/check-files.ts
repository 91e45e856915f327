import { basename, dirname, extname, resolve } from 'node:path';
import type { Observable } from 'rxjs';
import type { RequestBounds } from '../core/decision/request';
import type { Clock } from '../core/ports';
import { firstProblems, isError, WHOLE, type RuleProblem } from '../fields/problem';
import { type Check, type CheckSet, type CheckSources, parseCheck } from '../request-maps/check';
import { followDirectory } from './directory/follow-directory';
import { readRuleFiles } from './directory/read-rule-files';
import { surveyDirectory, type DirectoryOptions } from './directory/survey';
import type { LoadResult, RuleFiles } from './load-result';
import { inSlices, digestFiles } from './loader/rule-loader';
import { readRuleFile } from './yaml/read-rule-file';

/** Maps are read on the deciding thread: this size takes a hundredth of a second. */
const MAX_BYTES = 131_072;
const POLL_MS = 5_000;
const SETTLE = { quietMs: 75, maxMs: 1_000 };
const LOAD_TIMEOUT_MS = 60_000;

export interface CheckFilesDeps {
  readonly clock: Clock;
  /** Called when something cannot be watched. */
  readonly warn: (message: string) => void;
}

/** The checks of CHECK_CONFIG, a file or a directory: the first load at once on subscribe, then one for each change. */
export function followCheckFiles(
  path: string,
  bounds: RequestBounds,
  { clock, warn }: CheckFilesDeps,
): Observable<LoadResult<CheckSet>> {
  const load = async (found: RuleFiles): Promise<LoadResult<CheckSet>> => {
    const startedAt = clock();
    const { set, problems } = parseCheckFiles(toSources(found), bounds);
    const all = [...found.problems, ...problems];
    const durationMs = (clock() - startedAt) * 1_000;
    const listed = firstProblems(all);
    if (all.some(isError)) return { ok: false, ...listed, durationMs };
    const checks = [...set.checks.values()];
    return {
      ok: true,
      rules: set,
      domainCount: new Set(checks.map(({ domain }) => domain)).size,
      ruleCount: checks.reduce((count, { descriptors }) => count + descriptors.length, 0),
      digest: await inSlices(digestFiles(found.files)),
      ...listed,
      durationMs,
    };
  };
  return followDirectory(
    {
      ...placeOf(path),
      maxBytes: MAX_BYTES,
      pollMs: POLL_MS,
      settle: SETTLE,
      loadTimeoutMs: LOAD_TIMEOUT_MS,
    },
    { load, clock, warn },
  );
}

/** Reads them once, for the checker. Never rejects: an unreadable file is a problem. */
export async function readCheckFiles(
  path: string,
  bounds: RequestBounds,
): Promise<{ readonly set: CheckSet; readonly problems: readonly RuleProblem[] }> {
  const found = await readRuleFiles(await surveyDirectory(placeOf(path)), MAX_BYTES);
  const { set, problems } = parseCheckFiles(toSources(found), bounds);
  return { set, problems: [...found.problems, ...problems] };
}

/** Parses checks; they are returned only if there is no mistake. */
export function parseCheckFiles(
  from: CheckSources,
  bounds: RequestBounds,
): { readonly set: CheckSet; readonly problems: readonly RuleProblem[] } {
  const checks = new Map<string, Check>();
  const problems: RuleProblem[] = [];
  for (const { file, bytes } of from.files) {
    const { check, problems: ofFile } = parseCheck(readRuleFile(file, bytes), bounds);
    problems.push(...ofFile);
    const name = from.isDirectory ? file.slice(0, file.length - extname(file).length) : '';
    if (checks.has(name)) problems.push(takenTwice(file, name));
    if (check !== undefined) checks.set(name, check);
  }
  return { set: { checks, from }, problems };
}

function takenTwice(file: string, name: string): RuleProblem {
  const message = `another file defines the check ${JSON.stringify(name)} too: expected only one of .yaml and .yml`;
  return { severity: 'error', class: 'duplicate-check', file, at: WHOLE, message };
}

function toSources({ files, isFile }: RuleFiles): CheckSources {
  return { files, isDirectory: isFile !== true };
}

function placeOf(path: string): DirectoryOptions {
  const whole = resolve(path);
  return {
    root: dirname(whole),
    subdirectory: '',
    appDirectory: basename(whole),
    ignoreDotFiles: true,
    fileOr: 'CHECK_CONFIG',
  };
}
