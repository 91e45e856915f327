import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { LOAD_CORE } from './e2e-service';
import type { GeneratorOrder, GeneratorReport } from './generator';

/** `connections` × `inFlight`. */
export interface Shape {
  readonly connections: number;
  readonly inFlight: number;
  /** The cores of the load, as `taskset -c` has them; LOAD_CORE unless given. */
  readonly cores?: string;
}

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';

/** Runs h2load; `body` is a file with a length-prefixed message. Answers the calls that it counts as good. */
export async function runH2load(
  port: number,
  { connections, inFlight, cores }: Shape,
  requests: number,
  body: string,
): Promise<number> {
  const output = await runOnCores(cores, 'h2load', [
    ...['-n', String(requests), '-c', String(connections), '-m', String(inFlight), '-d', body],
    ...['-H', 'content-type: application/grpc', '-H', 'te: trailers'],
    `http://127.0.0.1:${String(port)}${PATH}`,
  ]);
  return Number(/(\d+) succeeded/.exec(output)?.[1]);
}

/** Runs our own generator. */
export async function runGenerator(order: Omit<GeneratorOrder, 'host'>): Promise<GeneratorReport> {
  const script = join(__dirname, 'generator.js');
  const argument = JSON.stringify({ host: '127.0.0.1', ...order });
  // It shares its core with Redis and lets that go first: a store on a machine of its own does not wait for the callers.
  const output = await runOnCores(undefined, 'nice', [
    '-n',
    '10',
    process.execPath,
    script,
    argument,
  ]);
  return JSON.parse(output) as GeneratorReport;
}

function runOnCores(
  cores = String(LOAD_CORE),
  command: string,
  args: readonly string[],
): Promise<string> {
  const child = spawn('taskset', ['-c', cores, command, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ended with ${String(code)}\n${output}`));
    });
  });
}
