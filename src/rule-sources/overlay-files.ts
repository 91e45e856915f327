import { basename, dirname, resolve } from 'node:path';
import type { Observable } from 'rxjs';
import type { Clock } from '../core/ports';
import type { OverlaySet } from '../core/rules/overlays/overlay';
import { parseOverlays, type ParsedOverlays } from '../core/rules/overlays/parse-overlays';
import { firstProblems, isError, type RuleProblem } from '../fields/problem';
import { followDirectory } from './directory/follow-directory';
import { readRuleFiles } from './directory/read-rule-files';
import { surveyDirectory, type DirectoryOptions } from './directory/survey';
import type { LoadResult, RuleFile, RuleFiles } from './load-result';
import { digestFiles, inSlices } from './loader/rule-loader';
import { readRuleFile } from './yaml/read-rule-file';

/** Overlays are read on the deciding thread, which a file of this size, two thousand of them, stops for a third of a second. */
const MAX_BYTES = 262_144;
const POLL_MS = 5_000;
const SETTLE = { quietMs: 75, maxMs: 1_000 };
const LOAD_TIMEOUT_MS = 60_000;

/** The overlays in force, for a source of rules. */
export interface CurrentOverlays {
  /** Undefined before the first good load. */
  readonly current: () => OverlaySet | undefined;
  /** Emits when others are in force. */
  readonly changed$: Observable<unknown>;
}

export interface OverlayFilesDeps {
  readonly clock: Clock;
  /** Called when something cannot be watched. */
  readonly warn: (message: string) => void;
}

/** The overlays of RULE_OVERLAYS, a file or a directory: the first load at once on subscribe, then one for each change. */
export function followOverlayFiles(
  path: string,
  { clock, warn }: OverlayFilesDeps,
): Observable<LoadResult<OverlaySet>> {
  const load = async (found: RuleFiles): Promise<LoadResult<OverlaySet>> => {
    const startedAt = clock();
    const { overlays, problems } = await inSlices(parseOverlayFiles(found.files));
    const all = [...found.problems, ...problems];
    const durationMs = (clock() - startedAt) * 1_000;
    const listed = firstProblems(all);
    if (all.some(isError)) return { ok: false, ...listed, durationMs };
    const digest = await inSlices(digestFiles(found.files));
    return {
      ok: true,
      rules: { text: JSON.stringify(overlays), digest },
      domainCount: new Set(overlays.map(({ domain }) => domain)).size,
      ruleCount: overlays.length,
      digest,
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

/** Overlays that are read once. */
export interface ReadOverlays {
  readonly set: OverlaySet;
  readonly count: number;
  /** The directory that file names in `problems` and in overlays are relative to. */
  readonly directory: string;
  readonly problems: readonly RuleProblem[];
}

/** Reads them once, for the checker. Never rejects: an unreadable file is a problem. */
export async function readOverlayFiles(path: string): Promise<ReadOverlays> {
  const found = await readRuleFiles(await surveyDirectory(placeOf(path)), MAX_BYTES);
  const { overlays, problems } = await inSlices(parseOverlayFiles(found.files));
  return {
    set: { text: JSON.stringify(overlays), digest: await inSlices(digestFiles(found.files)) },
    count: overlays.length,
    directory: found.isFile === true ? dirname(path) : path,
    problems: [...found.problems, ...problems],
  };
}

function* parseOverlayFiles(files: readonly RuleFile[]): Generator<void, ParsedOverlays> {
  const sources = [];
  for (const { file, bytes } of files) {
    sources.push(readRuleFile(file, bytes));
    yield;
  }
  return yield* parseOverlays(sources);
}

function placeOf(path: string): DirectoryOptions {
  const whole = resolve(path);
  return {
    root: dirname(whole),
    subdirectory: '',
    appDirectory: basename(whole),
    ignoreDotFiles: true,
    fileOr: 'RULE_OVERLAYS',
  };
}
