import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { manyRules } from '../support/many-rules';
import { cpuMicros } from './cpu';
import { runGenerator } from './e2e-load';
import { startMeasuredService, type MeasuredService } from './e2e-service';
import { median } from './measure';

const RULES = 10_000;
const RELOADS = 3;
const PER_SECOND = 2_000;
const SECONDS = 8;
/** The generator leaves out its first second. */
const FIRST_RELOAD_MS = 2_000;
const EVERY_MS = 1_800;
const IN_FORCE_WITHIN_MS = 20_000;

interface Figures {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** Milliseconds from the rename of the file until an answer follows the new rules. */
  readonly inForceMs: number;
  /** Of the service, for each of its calls. */
  readonly micros: number;
}

/**
 * Three reloads of 10,000 rules beside 2,000 gRPC calls a second, counters in memory: the builds in these folders by turns, so that
 * a disturbance is shared. `npm run bench:reloads -- dist ../other/dist`; `dist@1000` has a thousand overlays, of which each gives a
 * field to a rule.
 */
async function benchReloads(folders: readonly string[], rounds: number): Promise<void> {
  const all = folders.map((dist) => ({ dist, figures: [] as Figures[] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { dist, figures } of all) {
      const found = await playRound(dist, round);
      figures.push(found);
      console.log(`${dist}: ${textOf(found)}`);
    }
  }
  console.log(`\nthe medians of ${String(rounds)} rounds`);
  for (const { dist, figures } of all) {
    const middle = (of: (one: Figures) => number) => median(figures.map(of));
    const found = {
      p50: middle((one) => one.p50),
      p99: middle((one) => one.p99),
      p999: middle((one) => one.p999),
      inForceMs: middle((one) => one.inForceMs),
      micros: middle((one) => one.micros),
    };
    console.log(`${dist}: ${textOf(found)}`);
  }
}

function textOf({ p50, p99, p999, inForceMs, micros }: Figures): string {
  const [a, b, c] = [p50, p99, p999].map((ms) => ms.toFixed(1)) as [string, string, string];
  return `p50 ${a} ms, p99 ${b} ms, p999 ${c} ms, in force after ${inForceMs.toFixed(0)} ms, ${micros.toFixed(0)} µs a call`;
}

async function playRound(build: string, round: number): Promise<Figures> {
  const [dist = '', overlays] = build.split('@');
  const folder = await mkdtemp(join(tmpdir(), 'weir-reloads-'));
  const root = join(folder, 'runtime');
  await mkdir(join(root, 'config'), { recursive: true });
  const write = async (version: number): Promise<void> => {
    await writeFile(join(folder, 'next'), rulesOf(version));
    await rename(join(folder, 'next'), join(root, 'config', 'edge.yaml'));
  };
  await write(1);
  const settings: Record<string, string> = {
    ...{ RUNTIME_ROOT: root, BACKEND_TYPE: 'memory', DISABLE_STATS: 'true' },
  };
  if (overlays !== undefined) {
    settings['RULE_OVERLAYS'] = join(folder, 'overlays.yaml');
    await writeFile(settings['RULE_OVERLAYS'], overlaysOf(Number(overlays)));
  }
  const service = await startMeasuredService({}, { dist, settings, cores: '0,1' });
  try {
    const before = cpuMicros(service.pid);
    const load = runGenerator({
      port: service.port,
      connections: 4,
      inFlight: 0,
      requests: PER_SECOND * SECONDS,
      perSecond: PER_SECOND,
      keys: 1_000,
      varied: false,
    });
    const inForce: number[] = [];
    for (let at = 0; at < RELOADS; at += 1) {
      await delay(at === 0 ? FIRST_RELOAD_MS : EVERY_MS);
      const version = 2 + at + round * RELOADS;
      await write(version);
      inForce.push(await untilInForce(service, version));
    }
    const { sinceDueMs, errors } = await load;
    if (errors > 0) throw new Error(`${String(errors)} calls failed`);
    const [p50, p99, p999] = sinceDueMs;
    const micros = (cpuMicros(service.pid) - before) / (PER_SECOND * SECONDS);
    return { p50, p99, p999, inForceMs: Math.max(...inForce), micros };
  } finally {
    await service.stop();
    await rm(folder, { recursive: true });
  }
}

function rulesOf(version: number): string {
  const many = manyRules(RULES, version).replace('domain: many', 'domain: edge');
  const limits = [
    'key: user, rate_limit: { unit: day, requests_per_unit: 4000000000 }',
    `key: version, rate_limit: { unit: day, requests_per_unit: ${String(1_000_000 + version)} }`,
  ];
  return `${many}${limits.map((limit) => `  - { ${limit} }\n`).join('')}`;
}

function overlaysOf(count: number): string {
  const lines = Array.from({ length: count }, (_, at) => {
    const step = `{ key: path, value: "/api/v1/resource-${String(at)}" }`;
    return `  - { domain: edge, path: [${step}], descriptor: { on_store_error: deny } }\n`;
  });
  return `overlays:\n${lines.join('')}`;
}

async function untilInForce(service: MeasuredService, version: number): Promise<number> {
  const startMs = performance.now();
  const body = '{"domain":"edge","descriptors":[{"entries":[{"key":"version"}]}]}';
  const url = `http://127.0.0.1:${String(service.httpPort)}/json`;
  while (performance.now() - startMs < IN_FORCE_WITHIN_MS) {
    const text = await (await fetch(url, { method: 'POST', body })).text();
    if (text.includes(String(1_000_000 + version))) return performance.now() - startMs;
    await delay(10);
  }
  throw new Error(`version ${String(version)} is not in force`);
}

const folders = process.argv.slice(2);
void benchReloads(folders.length === 0 ? ['dist'] : folders, Number(process.env['ROUNDS'] ?? 3));
