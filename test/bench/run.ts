import { benchCore } from './core';

for (const [rules, routes] of [
  [10, 4],
  [10_000, 4],
  [10_000, 4_500],
] as const) {
  const { name, micros } = benchCore(rules, routes);
  console.log(`${name.padEnd(60)} ${micros.toFixed(3)} µs`);
}
