#!/usr/bin/env node
import { checkRules, type ReadDirectory } from '../config/check/check-rules';
import { readRuleFiles } from '../config/directory/read-rule-files';
import { surveyDirectory } from '../config/directory/survey';

const MAX_BYTES = 16 * 1_024 * 1_024;

const readDirectory: ReadDirectory = async (root) => {
  const place = { root, subdirectory: '', appDirectory: '', ignoreDotFiles: false };
  return readRuleFiles(await surveyDirectory(place), MAX_BYTES);
};

void checkRules(process.argv.slice(2), readDirectory).then(({ exitCode, lines, errorLines }) => {
  for (const line of lines) process.stdout.write(`${line}\n`);
  for (const line of errorLines) process.stderr.write(`${line}\n`);
  process.exitCode = exitCode;
});
