import { readRuleFile } from '../../src/rule-sources/yaml/read-rule-file';
import type { ParsedRules, RuleDefinition } from '../../src/core/rules/definition';
import type { RuleProblem } from '../../src/fields/problem';
import { parseRuleFiles } from '../../src/core/rules/parse/parse-rule-files';

/** Parses one rule file, `rules.yaml`. */
export function parseText(text: string | Uint8Array): ParsedRules {
  return parseTexts({ 'rules.yaml': text }, false);
}

export function parseTexts(
  files: Readonly<Record<string, string | Uint8Array>>,
  mergeDomains: boolean,
): ParsedRules {
  const sources = Object.entries(files).map(([file, text]) => readRuleFile(file, text));
  return parseRuleFiles(sources, { mergeDomains });
}

/** The rules of the only domain of a file that must be good. */
export function rulesOf(text: string): readonly RuleDefinition[] {
  const { domains, problems } = parseText(text);
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map(briefly).join('\n'));
  return domains[0]?.rules ?? [];
}

/** `line:column class`, with a request mark on warnings. */
export function briefly({ severity, at, class: name }: RuleProblem): string {
  const place = 'line' in at ? `${String(at.line)}:${String(at.column)}` : at.path;
  return `${place} ${name}${severity === 'warning' ? '?' : ''}`;
}

/** The problems of one file in brief. */
export function problemsOf(text: string | Uint8Array): string[] {
  return parseText(text).problems.map(briefly);
}
