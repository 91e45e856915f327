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

export interface H1Order {
  readonly connections: number;
  readonly requests: number;
  /** `Name: value`, each. */
  readonly headers: readonly string[];
}

/** Runs h2load over HTTP/1.1, one call at a time on each connection. Answers how many calls had which class of status. */
export async function runH1load(
  url: string,
  { connections, requests, headers }: H1Order,
): Promise<Readonly<Record<string, number>>> {
  const output = await runOnCores(undefined, 'h2load', [
    ...['--h1', '-n', String(requests), '-c', String(connections), '-m', '1'],
    ...headers.flatMap((header) => ['-H', header]),
    url,
  ]);
  const [, line = ''] = /status codes: (.*)/.exec(output) ?? [];
  const classes = [...line.matchAll(/(\d+) (\dxx)/g)];
  return Object.fromEntries(classes.map(([, times, name]) => [name, Number(times)]));
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
