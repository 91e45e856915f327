import type { Readable } from 'node:stream';
import { toDecisionRecord, type DecisionRecord } from '../core/decision/decision-record';
import { dumpRules } from '../core/rules/dump';
import { UsageError } from '../platform/errors';
import { applyMap } from './apply-map';
import { readCombinedLine } from './combined-log';
import { RunComparison, type Comparison } from './compare-runs';
import { FigureSheet } from './figures';
import { openDecisions, openInput, readMap } from './files';
import { loadRules, RulesRefused } from './load-rules';
import type { LogRecord, ReadRecord } from './log-record';
import { MapFileError, parseMapFile } from './map-file';
import { parseOptions, USAGE, type SimulateOptions } from './options';
import { printComparison, printReport } from './print-report';
import { createProgress } from './progress';
import { createLineCounts, readLog, type LineCounts } from './read-log';
import { toReport, type SimulationReport } from './report';
import { parseObject, readRequestLine } from './request-lines';
import { createRuleRun, type RuleRun } from './run-rules';
import { UnmatchedSheet } from './unmatched';

/** Above this share of lines that cannot be read, or without a line that met a rule, a comparison proves nothing. */
const MAX_UNREADABLE_SHARE = 0.01;

export interface Streams {
  readonly stdin: Readable;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
}

/** `ratelimit-simulate`: 0, 1 for an error, with `-against` 3 when a decision changes. Never rejects. */
export async function simulate(args: readonly string[], streams: Streams): Promise<number> {
  try {
    const options = parseOptions(args);
    if (options !== undefined) return await run(options, streams);
    streams.stdout.write(USAGE);
    return 0;
  } catch (error) {
    streams.stderr.write(`${toMessage(error)}\n`);
    return 1;
  }
}

function toMessage(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${USAGE}`;
  if (error instanceof RulesRefused) return error.message;
  if (error instanceof MapFileError) return `-map: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

async function run(options: SimulateOptions, streams: Streams): Promise<number> {
  const { configDir, against } = options;
  const load = (directory: string) => loadRules(directory, { ...options, stdin: streams.stdin });
  const lines: string[] = [];
  const onDecision = (record: DecisionRecord) =>
    lines.push(`${JSON.stringify(toDecisionRecord(record))}\n`);
  const first = createRuleRun(await load(configDir), {
    ...options,
    onDecision: options.decisions === undefined ? undefined : onDecision,
  });
  const second = against === undefined ? undefined : createRuleRun(await load(against), options);
  const gathered = await replay({ first, second, lines }, options, streams);
  const changes = second && gathered.comparison.finish(first.rules, second.rules, dumpRules);
  const { rules } = first;
  print(toReport({ ...gathered, ...options, rules }), changes, options, streams);
  await Promise.all([first.close(), second?.close()]);
  return changes === undefined ? 0 : judge(gathered, changes, streams);
}

interface Gathered {
  readonly lines: LineCounts;
  readonly figures: FigureSheet;
  readonly unmatched: UnmatchedSheet;
  readonly comparison: RunComparison;
  refused: number;
}

interface Runs {
  readonly first: RuleRun;
  readonly second: RuleRun | undefined;
  /** Of the decision log, not yet written. */
  readonly lines: string[];
}

/** Decides the whole log, by one set of rules or by two side by side. */
async function replay(
  { first, second, lines }: Runs,
  options: SimulateOptions,
  { stdin, stderr }: Streams,
): Promise<Gathered> {
  const { input, decisions } = options;
  const readRecord = await chooseReader(options);
  const gathered: Gathered = {
    lines: createLineCounts(),
    figures: new FigureSheet(),
    unmatched: new UnmatchedSheet(),
    comparison: new RunComparison(),
    refused: 0,
  };
  const source = input === '-' ? { stream: stdin, bytes: undefined } : await openInput(input);
  const file = decisions === undefined ? undefined : await openDecisions(decisions);
  const progress = createProgress(stderr, source.bytes);
  const take = async (record: LogRecord) => {
    const outcome = await first.decide(record);
    if (outcome === undefined) return;
    if (outcome.decision.overallCode === 'OVER_LIMIT') gathered.refused += 1;
    gathered.figures.note(outcome, record.timeSeconds);
    gathered.unmatched.note(record.request, outcome.decision.statuses);
    // A million lines: no turn of the event loop for what is not asked for.
    if (file !== undefined) await file.write(lines.splice(0).join(''));
    if (second === undefined) return;
    const other = await second.decide(record);
    if (other !== undefined) gathered.comparison.note(outcome, other);
  };
  const log = { chunks: progress.follow(source.stream), readRecord };
  await readLog(log, options, gathered.lines, take);
  progress.end();
  gathered.figures.finish();
  await file?.close();
  return gathered;
}

function print(
  report: SimulationReport,
  changes: Comparison | undefined,
  options: SimulateOptions,
  { stdout }: Streams,
): void {
  if (options.report === 'json') {
    stdout.write(`${JSON.stringify({ ...report, comparison: changes }, null, 2)}\n`);
    return;
  }
  const comparison = changes === undefined ? [] : printComparison(changes);
  stdout.write(`${[...printReport(report), ...comparison].join('\n').trimEnd()}\n`);
}

/** The exit code of a comparison: never a good one where it proves nothing. */
function judge({ lines, figures }: Gathered, changes: Comparison, { stderr }: Streams): number {
  if (lines.unreadable > lines.read * MAX_UNREADABLE_SHARE) {
    stderr.write(
      'more than 1 % of the lines cannot be read: the comparison proves nothing; check -format and -map\n',
    );
    return 1;
  }
  if (figures.rules.size === 0) {
    stderr.write(
      'no request met a rule: the comparison proves nothing; check the domain and the keys of -map\n',
    );
    return 1;
  }
  return changes.changed > 0 ? 3 : 0;
}

async function chooseReader({ format, map }: SimulateOptions): Promise<ReadRecord> {
  if (map === undefined) return readRequestLine;
  const log = parseMapFile(await readMap(map));
  const toFields = format === 'combined' ? readCombinedLine : parseObject;
  return (line) => applyMap(log, toFields(line));
}
