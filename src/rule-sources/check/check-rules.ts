import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { ParsedRules } from '../../core/rules/definition';
import { isError, problemText, type RuleProblem } from '../../core/rules/parse/problem';
import { systemClock } from '../../platform/clock';
import { toReason } from '../../platform/errors';
import { parseSecretKeys, type SecretKey } from '../../platform/secret-keys/parse-secret-keys';
import { TokenMaker } from '../../platform/secret-keys/token-maker';
import { NOT_READ, type RuleFiles, type RuleInput } from '../load-result';
import { parseRules } from '../parse-rules';
import { explainRules } from './explain-rules';
import { meetingProblems } from './meeting-problems';
import { parseCheckOptions, USAGE } from './options';

/** What the command prints and how it ends. */
export interface CheckOutcome {
  readonly exitCode: 0 | 1;
  /** Lines for the standard output. */
  readonly lines: readonly string[];
  /** Lines for the standard error: usage mistakes only. */
  readonly errorLines: readonly string[];
}

/** Reads the rule files that the command line names. Never rejects. */
export type ReadRules = (source: RuleInput) => Promise<RuleFiles>;

/** `ratelimit-config-check`: checks rule files as the service does. */
export async function checkRules(
  args: readonly string[],
  readRules: ReadRules,
): Promise<CheckOutcome> {
  const options = parseCheckOptions(args);
  if (options.kind === 'help') return { exitCode: 0, lines: [USAGE], errorLines: [] };
  if (options.kind === 'mistake') {
    return { exitCode: 1, lines: [], errorLines: [options.message, '', USAGE] };
  }
  const { source, strict } = options;
  const { files, problems } = await readRules(source);
  const keys = readKeys(options.keyFile);
  if (typeof keys === 'string') return { exitCode: 1, lines: [keys], errorLines: [] };
  const parsed = parseRules(files, { ...options, secretKeyIds: keys?.map(({ id }) => id) });
  const found = [...problems, ...parsed.problems, ...meetingProblems(parsed)];
  const all = found.map((problem) => toChecked(problem, strict));
  const directory = source.kind === 'directory' ? source.path : '';
  const lines = all.map((problem) => formatProblem(problem, directory));
  const mistakes = all.filter(isError).length;
  if (mistakes === 0) {
    const { explain } = options;
    const tokens = new TokenMaker(systemClock, keys);
    const explained =
      explain === undefined ? [summarize(parsed)] : explainRules(parsed, explain, tokens);
    return { exitCode: 0, lines: [...lines, ...explained], errorLines: [] };
  }
  const advice = `${plural(mistakes, 'mistake')}: correct what is listed and check again`;
  return { exitCode: 1, lines: [...lines, advice], errorLines: [] };
}

/** Undefined: no file was named. A text: why it cannot be used. */
function readKeys(file: string | undefined): readonly SecretKey[] | string | undefined {
  if (file === undefined) return undefined;
  try {
    return parseSecretKeys(readFileSync(file, 'utf8'));
  } catch (error) {
    return `-key_file: ${toReason(error)}`;
  }
}

/** The service warns of a file that it does not read and goes on; here that file must not be lost. */
function toChecked(problem: RuleProblem, strict: boolean): RuleProblem {
  return strict || problem.class === NOT_READ ? { ...problem, severity: 'error' } : problem;
}

/** One line: `rules/web.yaml:12:9: unit "fortnight" is not one of …`. */
function formatProblem(problem: RuleProblem, directory: string): string {
  const file = isAbsolute(problem.file) ? problem.file : join(directory, problem.file);
  const message = `${isError(problem) ? '' : 'warning: '}${problem.message}`;
  return problemText({ ...problem, file, message });
}

function summarize({ domains }: ParsedRules): string {
  const limits = domains.flatMap(({ rules }) => rules.filter(({ limit }) => limit !== undefined));
  return `${plural(domains.length, 'domain')}, ${plural(limits.length, 'limit')}: OK`;
}

function plural(count: number, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
}
