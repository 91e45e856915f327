import { cpus } from 'node:os';
import { benchCore } from './core';
import { benchAlgorithmFlow, benchMemoryFlow } from './flow';
import { benchRedisFlow } from './redis';

const PACED = ['gcra', 'sliding_window'] as const;

function print(name: string, micros: number): void {
  const perSecond = Math.round(1_000_000 / micros).toLocaleString('en');
  console.log(
    `${name.padEnd(58)} ${micros.toFixed(3).padStart(8)} µs ${perSecond.padStart(12)} /s`,
  );
}

async function main(): Promise<void> {
  console.log(`${cpus()[0]?.model ?? 'unknown CPU'}, node ${process.version}; CPU per decision\n`);
  for (const [rules, routes] of [
    [10, 4],
    [10_000, 4],
    [10_000, 4_500],
  ] as const) {
    const { name, micros } = benchCore(rules, routes);
    print(name, micros);
  }
  const memory = await benchMemoryFlow();
  print('batch flow on memory, bursts of 100', memory.streams);
  print('  the same without streams', memory.plain);
  print('  the same seen by the dashboard, nobody looks', memory.unwatched);
  print('  the same while somebody looks', memory.watched);
  for (const name of PACED) print(`  the same by ${name}`, await benchAlgorithmFlow(name));
  for (const descriptors of [1, 2] as const) {
    const { ours, redis } = await benchRedisFlow(descriptors);
    print(`batch flow on Redis, bursts of 100, ${String(descriptors)} descriptor(s)`, ours);
    print('  the same, CPU of Redis', redis);
  }
  for (const name of PACED) {
    const { ours, redis } = await benchRedisFlow(2, name);
    print(`batch flow on Redis, bursts of 100, 2 descriptors, ${name}`, ours);
    print('  the same, CPU of Redis', redis);
  }
}

void main();
