import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { describeCode, errorCode } from '../platform/errors';
import { readInput } from '../platform/stdio';
import { DIFFERENCES, OF_ROWS } from './differences';
import { toFacts } from './facts';
import { readDeployment } from './read-deployment';
import type { Workload } from './workload';

const MAX_BYTES = 1_048_576;

/** The result for the files of a deployment. */
export interface DeploymentOutcome {
  readonly lines: readonly string[];
  /** Number of starts that this service refuses, and of unreadable files. */
  readonly mistakes: number;
}

const FURTHER = `${String(DIFFERENCES.filter(({ find }) => typeof find === 'string').length)} more differences, which no deployment shows, are in docs/replacing-the-reference.md`;

/**
 * Reports everything in the files of a deployment that differs between the reference and this service; `-` is the standard input.
 * Never rejects.
 */
export async function checkDeployment(
  paths: readonly string[],
  input: Readable,
): Promise<DeploymentOutcome> {
  const outcomes: DeploymentOutcome[] = [];
  for (const path of paths) {
    const isInput = path === '-';
    const content = await readContent(isInput ? input : createReadStream(path));
    outcomes.push(checkContent(isInput ? '<standard input>' : path, content));
  }
  const lines = outcomes.flatMap((outcome) => outcome.lines);
  return {
    lines: paths.length === 0 ? [] : [...lines, FURTHER],
    mistakes: outcomes.reduce((sum, { mistakes }) => sum + mistakes, 0),
  };
}

function checkContent(path: string, content: Uint8Array | string): DeploymentOutcome {
  const deployment = typeof content === 'string' ? content : readDeployment(content);
  if (typeof deployment === 'string') return mistake(`${path}: ${deployment}`);
  const { workloads, skipped } = deployment;
  const lines = skipped.map((line) => `${path}: ${line}`);
  if (workloads.length === 0) {
    return { lines: [...lines, `${path}: no rate limit service is in this file`], mistakes: 1 };
  }
  const found = workloads.map((workload) => checkWorkload(path, workload));
  return {
    lines: [...lines, ...found.flatMap((each) => each.lines)],
    mistakes: found.reduce((sum, { mistakes }) => sum + mistakes, 0),
  };
}

function mistake(line: string): DeploymentOutcome {
  return { lines: [line], mistakes: 1 };
}

/** A string is the reason why it cannot be read. */
async function readContent(input: Readable): Promise<Uint8Array | string> {
  try {
    return (await readInput(input, MAX_BYTES)) ?? 'the file is larger than 1 MiB';
  } catch (error) {
    return `the file cannot be read: ${describeCode(errorCode(error))}`;
  }
}

/** The words of a problem that one more setting takes away. */
const OF_MISSING = / to be set\b|no setting says where/;

function checkWorkload(path: string, workload: Workload): DeploymentOutcome {
  let unsure = 0;
  const facts = toFacts(workload, () => {
    unsure += 1;
  });
  const differs = DIFFERENCES.flatMap(({ find }) => {
    const before = unsure;
    const text = typeof find === 'function' ? find(facts) : undefined;
    if (text === undefined) return [];
    return [`${unsure > before ? 'may differ' : 'differs'}: ${text}`];
  });
  // What is not set here may be set there.
  const mayBeMended = (line: string) => workload.hasMoreSettings === true && OF_MISSING.test(line);
  const doubts = facts.problems.filter(mayBeMended);
  const problems = facts.problems.filter((line) => !mayBeMended(line));
  const warnings = facts.warnings
    .filter((line) => !OF_ROWS.test(line))
    .map((line) => `warning: ${line}`);
  const lines = [
    ...problems.map((line) => `the start is refused: ${line}`),
    ...doubts.map((line) => `the start may be refused: ${line}`),
    ...differs,
    ...warnings,
  ];
  return {
    lines: lines.map((line) => `${path}: ${workload.name}: ${line}`),
    mistakes: problems.length,
  };
}
