/** Where something is in its source: lines and columns count from 1; a message has paths, `descriptors[2].descriptors[0]`. */
export type Place = { readonly line: number; readonly column: number } | { readonly path: string };

/** The place of a file or a resource as a whole. */
export const WHOLE: Place = { path: '' };

/** A mistake in a rule source, or a remark about something without effect. */
export interface RuleProblem {
  readonly severity: 'error' | 'warning';
  /** Class of the mistake, stable: `unknown-key`, `bad-unit`, … */
  readonly class: string;
  /** Name of the file or resource; empty where the problem concerns the source. */
  readonly file: string;
  readonly at: Place;
  /** What is wrong and what was expected. */
  readonly message: string;
}

export function isError({ severity }: RuleProblem): boolean {
  return severity === 'error';
}

/** The number of problems that are not listed. */
export interface Unlisted {
  readonly errors: number;
  readonly warnings: number;
}

/** Problems of one load that a service reports and keeps; the checker lists all. */
const MAX_LISTED = 100;

/** The first hundred, mistakes before remarks, in their order of occurrence. */
export function firstProblems(
  all: readonly RuleProblem[],
  most = MAX_LISTED,
): { readonly problems: readonly RuleProblem[]; readonly unlisted: Unlisted | undefined } {
  if (all.length <= most) return { problems: all, unlisted: undefined };
  const errors = all.filter(isError);
  const room = { error: most, warning: Math.max(0, most - errors.length) };
  const problems = all.filter(({ severity }) => room[severity]-- > 0);
  const listed = Math.min(errors.length, most);
  const warnings = all.length - errors.length - (problems.length - listed);
  return { problems, unlisted: { errors: errors.length - listed, warnings } };
}

/** The number of mistakes of a load. */
export function countErrors({
  problems,
  unlisted,
}: {
  readonly problems: readonly RuleProblem[];
  readonly unlisted?: Unlisted | undefined;
}): number {
  return problems.filter(isError).length + (unlisted?.errors ?? 0);
}

export function addUnlisted(
  a: Unlisted | undefined,
  b: Unlisted | undefined,
): Unlisted | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return { errors: a.errors + b.errors, warnings: a.warnings + b.warnings };
}

const PATHS = new Intl.Collator('en', { numeric: true });

/** Orders the problems of one file. */
export function byPlace({ at: a }: RuleProblem, { at: b }: RuleProblem): number {
  if ('path' in a) return 'path' in b ? PATHS.compare(a.path, b.path) : -1;
  return 'path' in b ? 1 : a.line - b.line || a.column - b.column;
}

/** Completes "is already defined …": `on line 3`, `at descriptors[2]`. */
export function describePlace(at: Place): string {
  return 'path' in at ? `at ${at.path}` : `on line ${String(at.line)}`;
}

/** The message, after its path. */
export function messageOf({ at, message }: RuleProblem): string {
  return 'path' in at && at.path !== '' ? `${at.path}: ${message}` : message;
}

/** One line: `web.yaml:12:9: unit "fortnight" is not …`, `shop: descriptors[2]: unit "fortnight" is not …`. */
export function problemText(problem: RuleProblem): string {
  const { file, at } = problem;
  const place = 'path' in at ? file : `${file}:${String(at.line)}:${String(at.column)}`;
  return place === '' ? messageOf(problem) : `${place}: ${messageOf(problem)}`;
}
