import { parseRuleFiles, type ParseOptions } from '../core/rules/parse/parse-rule-files';
import type { ParsedRules } from '../core/rules/definition';
import type { RuleFile } from './load-result';
import { readRuleFile } from './yaml/read-rule-file';

/** Parses and checks a complete set of rule files. Takes hundreds of milliseconds for thousands of rules. */
export function parseRules(files: readonly RuleFile[], options: ParseOptions): ParsedRules {
  const sources = files.map(({ file, bytes }) => readRuleFile(file, bytes));
  return parseRuleFiles(sources, options);
}
