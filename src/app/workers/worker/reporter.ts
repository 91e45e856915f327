import { createDifferences } from '../../../stats/differences';
import type { Registry } from '../../../stats/registry';
import type { FromWorker } from '../messages';

/**
 * Sends the owner what this worker counted. Every report is also a sign of life.
 * `send` settles when the channel has taken the message: an owner that does not read is sent nothing more.
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
    /** Reports soon; two calls during one report are one more. Settles when it is sent. */
    report(id?: number) {
      if (id !== undefined) asked.push(id);
      if (running === undefined) return start();
      return (next ??= running.then(start));
    },
  };
}
