import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { createTestClient } from './grpc-client';
import type { PoliteReport, PoliteTask } from './h2-polite';

const REQUEST = {
  domain: 'example',
  descriptors: [{ entries: [{ key: 'path', value: '/static/polite' }] }],
};

/** Calls at a pace until it is told to stop; then says how it went. */
async function main({ address, servicePid, everyMs }: PoliteTask): Promise<void> {
  const client = createTestClient(address);
  const queues = [`/proc/${String(servicePid)}/schedstat`, '/proc/thread-self/schedstat'];
  const queuedMs = () => queues.reduce((sum, file) => sum + readQueuedMs(file), 0);
  const times: number[] = [];
  const rawTimes: number[] = [];
  const failures: string[] = [];
  const open = new Set<Promise<void>>();
  const ask = async () => {
    const queuedBefore = queuedMs();
    const startedAt = performance.now();
    const { code, details } = await client.ask(REQUEST);
    const rawMs = performance.now() - startedAt;
    rawTimes.push(rawMs);
    times.push(Math.max(0, rawMs - (queuedMs() - queuedBefore)));
    if (code !== 0) failures.push(`${String(code)} ${details}`);
  };
  await ask();
  times.length = 0;
  rawTimes.length = 0;
  parentPort?.postMessage('ready');
  const timer = setInterval(() => {
    const asked = ask().finally(() => open.delete(asked));
    open.add(asked);
  }, everyMs);
  parentPort?.once('message', () => {
    clearInterval(timer);
    void Promise.all(open).then(() => {
      client.close();
      const report: PoliteReport = {
        calls: times.length,
        failures,
        p99Ms: quantile(times, 0.99),
        worstMs: quantile(times, 1),
        rawP99Ms: quantile(rawTimes, 0.99),
        rawWorstMs: quantile(rawTimes, 1),
      };
      parentPort?.postMessage(report);
    });
  });
}

/** How long a thread that could run waited for a processor, since its start; 0 where nobody tells. */
function readQueuedMs(schedstat: string): number {
  try {
    return Number(readFileSync(schedstat, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}

parentPort?.on('message', (message: PoliteTask | 'stop') => {
  if (message !== 'stop') void main(message);
});
