import type { PendingRequest, Responder } from '../../src/core/ports';
import type { Rules } from '../../src/core/rules/rules';
import { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { createRecordStats } from '../../src/stats/record-stats';
import { createRegistry } from '../../src/stats/registry';
import { budgetOf, type LimitSketch } from '../support/budgets';
import { descriptor, request } from '../support/requests';
import { rulesOf, type RuleSketch } from '../support/rules';
import { createDecider } from './flow';
import { median } from './measure';

const KEYS = 10_000;
const BURST = 100;
const BURSTS = 300;
const ROUNDS = 9;

const MANY = 50_000_000;
const window = (unit: 'MINUTE' | 'HOUR' | 'DAY'): LimitSketch => ({ unit, requestsPerUnit: MANY });
const gcra: LimitSketch = { unit: 'HOUR', requestsPerUnit: MANY, algorithm: 'gcra' };

/** Rules by what they say, and the calls of one caller, one after the other. */
const SHAPES: readonly (readonly [string, Omit<RuleSketch, 'key'>, readonly string[]])[] = [
  ['one gcra', { limit: { unit: 'HOUR', requestsPerUnit: MANY, algorithm: 'gcra' } }, ['']],
  ['one fixed window', { limit: [MANY, 'HOUR'] }, ['']],
  ['list of one window', budgetOf([window('HOUR')]), ['']],
  ['list of two', budgetOf([window('MINUTE'), window('HOUR')]), ['']],
  ['list of three', budgetOf([window('MINUTE'), window('HOUR'), window('DAY')]), ['']],
  [
    'list of two, block',
    budgetOf([window('MINUTE'), window('HOUR')], { block: { after: 3, forMs: 60_000 } }),
    [''],
  ],
  ['reserve, settle', budgetOf([gcra], { reserve: {} }), ['reserve', 'settle']],
];

const responder: Responder = { answer: () => true };

/** CPU µs of all calls of one caller, in bursts of 100 over 10,000 keys. */
function createLoad(rules: Rules, calls: readonly string[]) {
  const counters = createMemoryCounters({ clock: () => Date.now() / 1_000 });
  const decide = createDecider(counters, rules);
  const record = createRecordStats(createRegistry());
  let at = 0;
  let serial = 0;
  const burstOf = (
    callers: readonly (readonly [number, number])[],
    call: string,
  ): PendingRequest[] =>
    callers.map(([key, id], callId) => {
      const own = Buffer.from(`user=user-${String(key)}`).toString('latin1');
      const entries = call === '' ? own : [own, `${call}=a3f0c2d1-${String(id)}`];
      return { request: request('edge', [descriptor(entries)]), responder, callId };
    });
  return async () => {
    let micros = 0;
    for (let burst = 0; burst < BURSTS; burst += 1) {
      const callers = Array.from(
        { length: BURST },
        () => [(at = (at + 7_919) % KEYS), (serial += 1)] as const,
      );
      for (const call of calls) {
        const made = burstOf(callers, call);
        const before = process.cpuUsage();
        record(await decide(made));
        const { user, system } = process.cpuUsage(before);
        micros += user + system;
      }
    }
    return micros / (BURSTS * BURST);
  };
}

async function main(): Promise<void> {
  const loads = SHAPES.map(([name, sketch, calls]) => {
    const load = createLoad(rulesOf('edge', [{ key: 'user', ...sketch }]), calls);
    return { name, load, rounds: [] as number[] };
  });
  for (let round = 0; round < ROUNDS + 2; round += 1)
    for (const { load, rounds } of loads) {
      const micros = await load();
      if (round > 1) rounds.push(micros);
    }
  console.log('CPU µs for each caller, counters in memory, batches of 100 over 10,000 keys\n');
  const base = median(loads[0]?.rounds ?? []);
  for (const { name, rounds } of loads) {
    const micros = median(rounds);
    console.log(`${name.padEnd(26)} ${micros.toFixed(2)} µs (${(micros / base).toFixed(2)} times)`);
  }
  process.exit(0);
}

void main();
