import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { type RuleProblem, WHOLE } from '../fields/problem';
import { describeCode, errorCode } from '../platform/errors';
import { readInput } from '../platform/stdio';
import { readRuleFiles } from './directory/read-rule-files';
import { surveyDirectory } from './directory/survey';
import type { RuleFiles, RuleInput } from './load-result';

const MAX_BYTES = 16 * 1_024 * 1_024;

/** Reads the input of a command, at most 16 MiB. Never rejects: unreadable input is a problem. */
export async function readSource(source: RuleInput, input: Readable): Promise<RuleFiles> {
  if (source.kind === 'directory') {
    const none = { subdirectory: '', appDirectory: '', ignoreDotFiles: false };
    const place = { root: source.path, ...none, takes: 'any' } as const;
    return readRuleFiles(await surveyDirectory(place), MAX_BYTES);
  }
  const file = source.kind === 'file' ? source.path : '<standard input>';
  try {
    const bytes = await readInput(
      source.kind === 'file' ? createReadStream(source.path) : input,
      MAX_BYTES,
    );
    if (bytes !== undefined) return { files: [{ file, bytes }], problems: [] };
    return unreadable(file, `expected at most ${String(MAX_BYTES)} bytes`);
  } catch (error) {
    return unreadable(file, describeCode(errorCode(error)));
  }
}

function unreadable(file: string, reason: string): RuleFiles {
  const message = `the file cannot be read: ${reason}`;
  const problem: RuleProblem = {
    severity: 'error',
    class: 'unreadable-file',
    file,
    at: WHOLE,
    message,
  };
  return { files: [], problems: [problem] };
}
