import { createDifferences } from '../../../stats/differences';
import type { Registry } from '../../../stats/registry';
import type { FromWorker } from '../messages';

/**
 * Sends this worker's counts to the owner. Every report is also a heartbeat. `send` settles when the channel has accepted the
 * message: an owner that does not read gets nothing more.
 */
export function createReporter(registry: Registry, send: (message: FromWorker) => Promise<void>) {
  const differences = createDifferences(registry);
  let asked: number[] = [];
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const report = async (): Promise<void> => {
    const ids = asked;
    asked = [];
    for await (const part of differences()) await send({ kind: 'counted', differences: part });
    await send({ kind: 'gauges', gauges: registry.readGauges() });
    for (const id of ids) await send({ kind: 'collected', id });
  };
  const start = (): Promise<void> => {
    next = undefined;
    running = report().finally(() => (running = undefined));
    return running;
  };
  return {
    /** Reports soon; calls during a report cause one more. Settles when it is sent. */
    report(id?: number) {
      if (id !== undefined) asked.push(id);
      if (running === undefined) return start();
      return (next ??= running.then(start));
    },
  };
}
