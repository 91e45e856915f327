import { dumpJson, dumpText } from '../../src/stats/dump';
import { createRegistry } from '../../src/stats/registry';

/*
 * Prints how many bytes a dump of many statistics holds for each of its lines, when all of them are sorted and the
 * first ones are read. Needs `--expose-gc`.
 */

const SERIES = 5_000;
const LINES = SERIES * 7;

const registry = createRegistry();
for (let i = 0; i < SERIES; i++) {
  registry.rules.of(`domain.${String(i).padStart(100, 'v')}`).add({
    totalHits: 1,
    totalNegativeHits: 1,
    overLimit: 1,
    nearLimit: 1,
    withinLimit: 1,
    shadowMode: 1,
    overLimitWithLocalCache: 1,
  });
}

function alive(): number {
  global.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function bytesOfLine(dump: typeof dumpText): number {
  const before = alive();
  const steps = dump(registry);
  let length = 0;
  while (length < 10_000) {
    const { value } = steps.next();
    if (typeof value === 'string') length += value.length;
  }
  const held = alive() - before;
  // What it holds is alive up to here.
  steps.next();
  return held / LINES;
}

// The first call compiles.
bytesOfLine(dumpText);
console.log(JSON.stringify({ text: bytesOfLine(dumpText), json: bytesOfLine(dumpJson) }));
