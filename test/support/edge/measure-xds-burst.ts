import { join } from 'node:path';
import { filter, firstValueFrom, shareReplay } from 'rxjs';
import { createXdsSource } from '../../../src/rule-sources/xds-source';
import { compileInSlices } from '../../../src/core/rules/compile';
import type { LoadResult } from '../../../src/rule-sources/load-result';
import type { Rules } from '../../../src/core/rules/rules';
import { parseInWorker } from '../../../src/rule-sources/loader/parse-in-worker';
import { createStallProbe } from './event-loop-stall';

const WANTED_MS = 25;

/** Compiling TypeScript in every thread would take longer than all the rest. */
const BUILT_WORKER = join(__dirname, '../../../dist/src/rule-sources/xds-worker.js');

interface Burst {
  readonly longestMs: number;
  readonly loads: number;
  readonly tookMs: number;
}

/**
 * A process of its own, with nothing in it but a source of rules from the management server given as its
 * argument. Follows bursts, each on a stream of its own, until the last version of one, whose limit is `last`, was in
 * force without a turn of the event loop above 25 ms with a part of a load in it. Prints the longest such turn of each.
 */
async function measure(target: string, last: number, bursts: number): Promise<readonly Burst[]> {
  const results: Burst[] = [];
  const probe = createStallProbe();
  const parse = parseInWorker({ script: BUILT_WORKER });
  while (
    results.length < bursts &&
    Math.min(...results.map(({ longestMs }) => longestMs)) > WANTED_MS
  ) {
    let loads = 0;
    const loads$ = createXdsSource(
      {
        protocol: 'state-of-the-world',
        nodeId: 'burst',
        nodeMetadata: {},
        connectRetryIntervalMs: 20,
        backoff: { initialMs: 20, maxMs: 200, jitter: 0 },
        maxMessageBytes: undefined,
        tls: undefined,
        headers: {},
        mergeDomains: false,
        target,
      },
      {
        compile: function* (domains) {
          const slices = compileInSlices(domains, 250);
          for (;;) {
            probe.mark();
            const slice = slices.next();
            if (slice.done === true) return slice.value;
            yield;
          }
        },
        clock: () => Date.now() / 1_000,
        random: () => 0.5,
        onStream: console.error,
        parse: (...files) => probe.markDuring(parse(...files)),
      },
    ).loads$.pipe(shareReplay({ bufferSize: 1, refCount: false }));
    const following = loads$.subscribe(() => (loads += 1));
    const done = firstValueFrom(loads$.pipe(filter((load) => limitOf(load) === last)));
    const startedAt = performance.now();
    const longestMs = await probe.longestDuring(() => done);
    following.unsubscribe();
    results.push({ longestMs, loads, tookMs: performance.now() - startedAt });
  }
  return results;
}

/** The limit of the first rule. */
function limitOf(load: LoadResult<Rules>): number | undefined {
  const top = load.ok ? load.rules.domains.get('many')?.top : undefined;
  if (top === undefined || !('byValue' in top)) return undefined;
  return top.byValue?.get('/api/v1/resource-0')?.limit?.requestsPerUnit;
}

const [target = '', last = '', bursts = '1'] = process.argv.slice(2);
void measure(target, Number(last), Number(bursts)).then((results) => {
  process.stdout.write(JSON.stringify(results));
  process.exit(0);
});
