import { isAbsolute, join } from 'node:path';
import type { ParsedRules, RuleProblem } from '../../core/rules/definition';
import { isError, type RuleFiles } from '../load-result';
import { parseRules } from '../parse-rules';
import { parseCheckOptions, USAGE } from './options';

/** What the command prints and how it ends. */
export interface CheckOutcome {
  readonly exitCode: 0 | 1;
  /** Lines for the standard output. */
  readonly lines: readonly string[];
  /** Lines for the standard error: usage mistakes only. */
  readonly errorLines: readonly string[];
}

/** Reads the rule files of a directory, as the service does. Never rejects. */
export type ReadDirectory = (directory: string) => Promise<RuleFiles>;

/** `ratelimit-config-check`: checks the rule files of a directory as the service does. */
export async function checkRules(
  args: readonly string[],
  readDirectory: ReadDirectory,
): Promise<CheckOutcome> {
  const options = parseCheckOptions(args);
  if (options.kind === 'help') return { exitCode: 0, lines: [USAGE], errorLines: [] };
  if (options.kind === 'mistake') {
    return { exitCode: 1, lines: [], errorLines: [options.message, '', USAGE] };
  }
  const { files, problems } = await readDirectory(options.directory);
  const parsed = parseRules(files, options);
  const all = [...problems, ...parsed.problems];
  const lines = all.map((problem) => formatProblem(problem, options.directory));
  const mistakes = all.filter(isError).length;
  if (mistakes > 0) return refuse(lines, plural(mistakes, 'mistake'));
  if (files.length === 0) return refuse(lines, 'no rules');
  return { exitCode: 0, lines: [...lines, summarize(parsed)], errorLines: [] };
}

/** One line: `rules/web.yaml:12:9: unit "fortnight" is not one of …`. */
function formatProblem(problem: RuleProblem, directory: string): string {
  const { severity, line, column, message } = problem;
  const file = isAbsolute(problem.file) ? problem.file : join(directory, problem.file);
  const place = line === 0 ? file : `${file}:${String(line)}:${String(column)}`;
  return `${place}: ${severity === 'warning' ? 'warning: ' : ''}${message}`;
}

function summarize({ domains }: ParsedRules): string {
  const limits = domains.flatMap(({ rules }) => rules.filter(({ limit }) => limit !== undefined));
  return `${plural(domains.length, 'domain')}, ${plural(limits.length, 'limit')}: OK`;
}

function refuse(lines: readonly string[], what: string): CheckOutcome {
  const advice = `${what}: the service would not take this; correct it and check again`;
  return { exitCode: 1, lines: [...lines, advice], errorLines: [] };
}

function plural(count: number, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
}
