/** `npm run fuzz -- --minutes N`: all targets in turns; ends with exit code 1 after a finding. docs/internals/fuzzing.md. */
import { parseArgs } from 'node:util';
import { createTargets } from '../fuzz/targets';
import { createBatchStats, execute, Finding, type BatchStats } from '../fuzz/fuzz';
import { createJudgeCost } from './cost';
import { seedOf } from '../fuzz/random';
import type { Target } from '../fuzz/target';

/** Findings of one kind repeat; so many are enough to work on. */
const MAX_FINDINGS = 20;
const ROUND_MS = 500;
const REPORT_MS = 60_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    run: { type: 'string' },
    target: { type: 'string' },
    seed: { type: 'string' },
    input: { type: 'string' },
  },
});

const targets = createTargets()
  .map(({ target }) => target)
  .filter(({ name }) => values.target === undefined || values.target === name);
if (targets.length === 0) throw new Error(`there is no target "${String(values.target)}"`);

let findings = 0;

function note(error: unknown): void {
  if (!(error instanceof Finding)) throw error;
  findings++;
  console.log(error.message);
}

function tryOne(target: Target, seed: number, batchStats: BatchStats, input?: Buffer): void {
  try {
    execute(target, seed, batchStats, input);
  } catch (error) {
    note(error);
  }
}

function runFor(minutes: number, run: number): void {
  const startedAt = performance.now();
  const until = startedAt + minutes * 60_000;
  const tallies = new Map(targets.map((target) => [target, createBatchStats(createJudgeCost())]));
  let reportAt = startedAt;
  while (performance.now() < until && findings < MAX_FINDINGS) {
    for (const [target, batchStats] of tallies) {
      const roundEnd = Math.min(until, performance.now() + ROUND_MS);
      while (performance.now() < roundEnd)
        tryOne(target, seedOf(run, batchStats.executions), batchStats);
    }
    if (performance.now() >= reportAt) {
      report(startedAt, tallies);
      reportAt += REPORT_MS;
    }
  }
  report(startedAt, tallies);
}

function report(startedAt: number, tallies: ReadonlyMap<Target, BatchStats>): void {
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const heapMib = process.memoryUsage().heapUsed / 2 ** 20;
  const each = [...tallies].map(
    ([{ name }, { executions, bytes }]) =>
      `${name} ${String(executions)} (${String(bytes)} octets)`,
  );
  console.log(`${String(seconds)} s, heap ${heapMib.toFixed(0)} MiB, ${each.join(', ')}`);
}

if (values.seed === undefined) {
  const run = Number(values.run ?? Date.now() % 1_000_000);
  console.log(`run ${String(run)}, ${values.minutes} minutes`);
  runFor(Number(values.minutes), run);
} else {
  const input = values.input === undefined ? undefined : Buffer.from(values.input, 'hex');
  for (const target of targets) {
    tryOne(target, Number(values.seed), createBatchStats(createJudgeCost()), input);
  }
}
console.log(`${String(findings)} findings`);
process.exitCode = findings === 0 ? 0 : 1;
