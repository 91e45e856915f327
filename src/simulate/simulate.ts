import type { Readable } from 'node:stream';
import { toDecisionRecord, type DecisionRecord } from '../core/decision/decision-record';
import type { ZoneLookup } from '../core/windows/zone-data';
import { READER_GONE } from '../platform/stdio';
import { UsageError } from '../platform/errors';
import { RunComparison, type Comparison } from './compare-runs';
import { FigureCollector, UnmatchedCounts } from './figures';
import { openDecisions, openInput, OutputUnread, createProgress } from './files';
import { loadRules, RulesRefused, createRuleRun, type RuleRun } from './run-rules';
import { createLogReader, type LogReader, MapFileError } from './log-reader';
import type { LogRecord } from './log-record';
import { parseOptions, USAGE, type SimulateOptions } from './options';
import { printComparison, printReport } from './print-report';
import { createLineCounts, readLog, type LineCounts } from './read-log';
import { toReport, type SimulationReport } from './report';

export interface Streams {
  readonly stdin: Readable;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
}

/** `ratelimit-simulate`: 0, 141 when the reader of its output has gone, 1 for an error or where nothing is proved, with `-against` 3 when a decision changes. Never rejects. */
export async function simulate(
  args: readonly string[],
  streams: Streams,
  zones?: ZoneLookup,
): Promise<number> {
  try {
    const options = parseOptions(args);
    if (options !== undefined) return await run(options, streams, zones);
    streams.stdout.write(USAGE);
    return 0;
  } catch (error) {
    if (error instanceof OutputUnread) return READER_GONE;
    streams.stderr.write(`${toMessage(error)}\n`);
    return 1;
  }
}

function toMessage(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${USAGE}`;
  if (error instanceof RulesRefused) return error.message;
  if (error instanceof MapFileError) return error.message;
  return error instanceof Error ? error.message : String(error);
}

async function run(
  options: SimulateOptions,
  streams: Streams,
  zones: ZoneLookup | undefined,
): Promise<number> {
  const { configDir, against } = options;
  const load = (directory: string) =>
    loadRules(directory, { ...options, stdin: streams.stdin, zones });
  const lines: string[] = [];
  const onDecision = (record: DecisionRecord) =>
    lines.push(`${JSON.stringify(toDecisionRecord(record))}\n`);
  const first = createRuleRun(await load(configDir), {
    ...options,
    onDecision: options.decisions === undefined ? undefined : onDecision,
  });
  const second = against === undefined ? undefined : createRuleRun(await load(against), options);
  const gathered = await replay({ first, second, lines }, options, streams);
  const changes = second && gathered.comparison.finish(first.rules, second.rules);
  const { rules } = first;
  print(toReport({ ...gathered, ...options, rules }), changes, options, streams);
  await Promise.all([first.close(), second?.close()]);
  return judge(gathered, changes, streams);
}

interface Gathered {
  readonly firstFields: LogReader['firstFields'];
  readonly missingFields: ReturnType<LogReader['missing']>;
  readonly lines: LineCounts;
  readonly figures: FigureCollector;
  readonly unmatched: UnmatchedCounts;
  readonly comparison: RunComparison;
  refused: number;
}

interface Runs {
  readonly first: RuleRun;
  readonly second: RuleRun | undefined;
  /** Lines of the decision log, not yet written. */
  readonly lines: string[];
}

/** Decides the whole log, by one set of rules or by two side by side. */
async function replay(
  { first, second, lines }: Runs,
  options: SimulateOptions,
  { stdin, stderr }: Streams,
): Promise<Gathered> {
  const { input, decisions } = options;
  const { readRecord, firstFields, missing } = await createLogReader(options);
  const gathered = {
    firstFields,
    lines: createLineCounts(),
    figures: new FigureCollector(),
    unmatched: new UnmatchedCounts(),
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
    // A million lines: no turn of the event loop for an output that was not requested.
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
  return { ...gathered, missingFields: missing() };
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

/** The exit code: never a success where the run proves nothing. */
function judge(
  { lines, figures, firstFields, missingFields }: Gathered,
  changes: Comparison | undefined,
  { stderr }: Streams,
): number {
  const isComparison = changes !== undefined;
  const rulesMet = figures.rules.size;
  const why = whyItProvesNothing({ lines, rulesMet, firstFields, missingFields, isComparison });
  if (why === undefined) return isComparison && changes.changed > 0 ? 3 : 0;
  stderr.write(`${why}; this ${isComparison ? 'comparison' : 'run'} proves nothing\n`);
  return 1;
}

/** Above this share of unreadable lines, a comparison proves nothing. */
const MAX_UNREADABLE_SHARE = 0.01;

interface Evidence {
  readonly lines: LineCounts;
  /** Number of rules that matched requests. */
  readonly rulesMet: number;
  readonly firstFields: LogReader['firstFields'];
  readonly missingFields: ReturnType<LogReader['missing']>;
  /** Whether two sets of rules are compared. */
  readonly isComparison: boolean;
}

/** Why a run proves nothing about the rules; undefined: it does. */
function whyItProvesNothing(evidence: Evidence): string | undefined {
  const { lines, rulesMet, missingFields, isComparison } = evidence;
  const { read, unreadable, requests } = lines;
  if (read === 0) return 'the log has no line';
  if (unreadable === read) return 'no line can be read: check -format';
  if (requests === 0) return whyNoRequest(evidence);
  if (missingFields.length > 0) return `${missingText(missingFields)}; ${fieldsText(evidence)}`;
  if (rulesMet === 0) return 'no request matched a rule: check the domain and the keys';
  return isComparison && unreadable > read * MAX_UNREADABLE_SHARE
    ? 'more than 1 % of the lines cannot be read: check -format and -map'
    : undefined;
}

function missingText(missing: Evidence['missingFields']): string {
  return `-map takes what is in no line of the log: ${missing.join(', ')}`;
}

function fieldsText({ firstFields }: Pick<Evidence, 'firstFields'>): string {
  return `the first line has the fields ${firstFields.join(', ')}`;
}

function whyNoRequest(evidence: Evidence): string {
  if (evidence.lines.withoutDescriptors === 0) return 'no line is between -from and -to';
  const { missingFields } = evidence;
  const missing = missingFields.length === 0 ? '' : `; ${missingText(missingFields)}`;
  return `no line gave a descriptor: check the fields and conditions of -map; ${fieldsText(evidence)}${missing}`;
}
