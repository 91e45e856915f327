import type { OverlayCounts } from '../core/rules/definition';
import type { RuleProblem, Unlisted } from '../fields/problem';

/** The result of one load from a source of rules. A load that is not ok changes nothing. */
export type LoadResult<R> = LoadedRules<R> | FailedLoad;

export interface LoadedRules<R> {
  readonly ok: true;
  readonly rules: R;
  readonly domainCount: number;
  /** Descriptor entries, with or without a limit. */
  readonly ruleCount: number;
  /** `sha256:` and 64 digits: a hash of contents and relative names, equal where instances have the same rules. */
  readonly digest: string;
  /** The management server's name for it. */
  readonly version?: string;
  /** Undefined: there are no overlays. */
  readonly overlaid?: OverlayCounts | undefined;
  /** Warnings only, the first hundred. */
  readonly problems: readonly RuleProblem[];
  readonly unlisted?: Unlisted | undefined;
  readonly durationMs: number;
}

export interface FailedLoad {
  readonly ok: false;
  /** The management server's name for it. */
  readonly version?: string;
  /** The first hundred errors and warnings; at least one error. */
  readonly problems: readonly RuleProblem[];
  readonly unlisted?: Unlisted | undefined;
  readonly durationMs: number;
}

/** Class of the warning about a file without the name of a rule file; for the checker it is a mistake. */
export const NOT_READ = 'not-read';

/** The checker's input. */
export type RuleInput =
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'standard-input' };
/** Problems after which the rules are unknown: they could not be read, right or wrong. */
const UNREAD: ReadonlySet<string> = new Set([
  'no-directory',
  'load-failed',
  'unreadable-file',
  'unreadable-now',
]);

/** Whether a load has read the rules, be they right or wrong; there may be none. */
export function hasRead({ ok, problems }: LoadResult<unknown>): boolean {
  return ok || !problems.some((problem) => UNREAD.has(problem.class));
}

/** A rule file from the disk. */
export interface RuleFile {
  /** Its name, without the directory. */
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** The content of a directory of rules. */
export interface RuleFiles {
  readonly files: readonly RuleFile[];
  /** Problems of finding and reading them. */
  readonly problems: readonly RuleProblem[];
  /** It is a single file. Default: false. */
  readonly isFile?: boolean;
}
