import { spawn } from 'node:child_process';
import { cpus } from 'node:os';
import { createRegistry } from '../../src/stats/registry';
import { createTracing, type Tracing } from '../../src/tracing/create-tracing';
import { freePort } from '../support/free-port';
import { silentLogger } from '../support/silent-logger';
import { median } from './measure';
import { createWireFlow } from './wire-flow';

const ROUNDS = Number(process.env['ROUNDS'] ?? 40);
const WARM_UP = 10;

/** A collector that takes all and does nothing, in a process of its own. */
const SINK = `require('http').createServer((q, s) => { q.resume(); q.on('end', () => s.end()); }).listen(+process.argv[1], '127.0.0.1')`;

function startTracing(port: number, samplingRate: number): Tracing {
  return createTracing(
    {
      clock: () => Date.now() / 1_000,
      monotonicMs: () => performance.now(),
      random: Math.random,
      statistics: createRegistry(),
      logger: silentLogger,
      onExport: () => undefined,
    },
    {
      samplingRate,
      store: {},
      resourceAttributes: { 'service.name': 'bench' },
      exporter: {
        ...{ protocol: 'http', url: `http://127.0.0.1:${String(port)}/v1/traces`, headers: {} },
        ...{ timeoutMs: 10_000, compression: 'none' },
        ...{ caFile: undefined, keyFile: undefined, certificateFile: undefined },
      },
      batches: { queueSize: 2_048, batchSize: 512, delayMs: 5_000, exportTimeoutMs: 30_000 },
    },
  );
}

/** A service that ran for a while has its code compiled, that of the one traced call in a hundred too. */
async function warmUp(traced: Tracing): Promise<void> {
  const flow = createWireFlow({ varied: true, sampledEvery: 4, tracer: traced.tracer });
  for (let round = 0; round < WARM_UP; round++) await flow.round();
}

interface Tracings {
  readonly none: Tracing;
  readonly some: Tracing;
}

/** Rounds of all in turn, so that what disturbs one disturbs all. */
async function compare(name: string, varied: boolean, { none, some }: Tracings): Promise<void> {
  const ways = [
    { label: 'off', tracer: undefined, sampledEvery: 100 },
    { label: 'off again', tracer: undefined, sampledEvery: 100 },
    // What it costs to find out that a call is not traced.
    { label: 'on, 0 %', tracer: none.tracer, sampledEvery: Infinity },
    { label: 'on, 1 %', tracer: some.tracer, sampledEvery: 100 },
  ];
  const only = process.env['WAYS']?.split(';');
  const flows = ways
    .filter(({ label }) => only?.includes(label) !== false)
    .map(({ label, tracer, sampledEvery }) => ({
      label,
      flow: createWireFlow({ varied, sampledEvery, tracer }),
      rounds: [] as number[],
    }));
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    for (const { flow, rounds } of flows) {
      const micros = await flow.round();
      if (round >= WARM_UP) rounds.push(micros);
    }
  }
  const base = lowerQuartile(flows[0]?.rounds ?? []);
  for (const { label, rounds } of flows) {
    const quartile = lowerQuartile(rounds);
    console.log(
      `${name.padEnd(32)} ${label.padEnd(10)} ${quartile.toFixed(3)} µs  ` +
        `${(100 * (quartile / base - 1)).toFixed(1).padStart(5)} %  ` +
        `least ${Math.min(...rounds).toFixed(3)}  median ${median(rounds).toFixed(3)}`,
    );
  }
}

/** What disturbs a machine makes rounds longer, never shorter. */
function lowerQuartile(rounds: readonly number[]): number {
  return rounds.toSorted((a, b) => a - b)[Math.floor(rounds.length / 4)] ?? NaN;
}

async function main(): Promise<void> {
  console.log(`${cpus()[0]?.model ?? 'unknown CPU'}, node ${process.version}; CPU per decision`);
  const port = await freePort();
  const sink = spawn(process.execPath, ['-e', SINK, String(port)], { stdio: 'inherit' });
  const tracings = { none: startTracing(port, 0), some: startTracing(port, 0.01) };
  await warmUp(tracings.some);
  const only = process.env['ONLY'];
  if (only !== 'varied') await compare('headers alike, no traceparent', false, tracings);
  if (only !== 'alike') await compare('headers varied, with traceparent', true, tracings);
  await Promise.all(Object.values(tracings).map((tracing) => tracing.close(1_000)));
  sink.kill();
}

void main();
