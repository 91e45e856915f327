import { join } from 'node:path';
import type { LoadResult } from '../../../src/rule-sources/load-result';
import {
  parseInWorker,
  type WorkerOptions,
} from '../../../src/rule-sources/loader/parse-in-worker';
import { createXdsSource, type XdsSourceOptions } from '../../../src/rule-sources/xds-source';
import { compileInSlices } from '../../../src/core/rules/compile';
import type { Rules } from '../../../src/core/rules/rules';
import { eventually } from './eventually';
import { describeLoad } from '../followed-rules';
import { TYPESCRIPT_HOOK } from '../parse-in-typescript-worker';

export interface XdsFollower {
  readonly loads: readonly LoadResult<Rules>[];
  readonly warnings: readonly string[];
  /** Waits until so many loads have come and answers what the newest of these says. */
  loaded(count: number): Promise<string>;
  stop(): void;
}

/** Follows a management server with short waits and without jitter. */
export function followServer(
  options: Partial<XdsSourceOptions> & Pick<XdsSourceOptions, 'target'>,
): XdsFollower {
  const loads: LoadResult<Rules>[] = [];
  const warnings: string[] = [];
  const following = createXdsSource(
    {
      protocol: 'state-of-the-world',
      nodeId: 'node-1',
      nodeMetadata: { zone: 'a' },
      connectRetryIntervalMs: 20,
      backoff: { initialMs: 20, maxMs: 200, jitter: 0 },
      maxMessageBytes: undefined,
      tls: undefined,
      headers: {},
      mergeDomains: false,
      ...options,
    },
    {
      compile: (domains) => compileInSlices(domains, 250),
      clock: () => Date.now() / 1_000,
      random: () => 0.5,
      onStream: (event) => {
        if (event.kind === 'connected') return;
        const seconds = (event.nextAttemptMs / 1_000).toFixed(1);
        const what = `no stream to the management server at ${options.target}`;
        warnings.push(`${what}: ${event.reason}; trying again in ${seconds} s`);
      },
      parse: parseInTypescriptXdsWorker(),
    },
  ).loads$.subscribe((load) => loads.push(load));
  return {
    loads,
    warnings,
    loaded: (count) =>
      eventually(
        () => {
          const load = loads[count - 1];
          if (load !== undefined) return describeLoad(load);
          const seen = [...loads.map(describeLoad), ...warnings].join('\n');
          throw new Error(`${String(loads.length)} of ${String(count)} loads:\n${seen}`);
        },
        { withinMs: 15_000 },
      ),
    stop: () => {
      following.unsubscribe();
    },
  };
}

/** The product's thread for rules from a management server, started from its TypeScript source. */
export function parseInTypescriptXdsWorker(options: WorkerOptions = {}) {
  return parseInWorker({
    script: join(__dirname, '../../../src/rule-sources/xds-worker.ts'),
    execArgv: ['--require', TYPESCRIPT_HOOK],
    ...options,
  });
}
