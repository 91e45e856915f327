import { filter, firstValueFrom, skip, shareReplay } from 'rxjs';
import { createOutageLog } from '../../../src/app/outage-log';
import { createRulesActor } from '../../../src/app/rules/rules';
import { compileInSlices } from '../../../src/core/rules/compile';
import { createLogger } from '../../../src/platform/logger';
import { createDirectorySource } from '../../../src/rule-sources/directory-source';
import { createRegistry } from '../../../src/stats/registry';
import { createStallProbe } from './event-loop-stall';
import { manyMistakes, manyRules } from '../many-rules';
import { parseInTypescriptWorker } from '../parse-in-typescript-worker';
import { createTemporaryDirectory } from '../rule-directory';

const WANTED_MS = 50;
const MAX_RELOADS = 10;

/**
 * A process of its own, with nothing in it but rules and their log: reloads 20,000 mistakes until no turn of the event loop meanwhile
 * took more than 50 ms, ten times at most. Prints the longest turn of each, in milliseconds.
 */
async function measure(): Promise<number[]> {
  const directory = createTemporaryDirectory();
  directory.write('root/config/many.yaml', manyRules(100, 1));
  const probe = createStallProbe();
  const parse = parseInTypescriptWorker();
  const clock = () => Date.now() / 1_000;
  const logger = createLogger({ level: 'warning', format: 'text' });
  const actor = createRulesActor(
    createDirectorySource(
      {
        root: directory.at('root'),
        subdirectory: '',
        appDirectory: 'config',
        ignoreDotFiles: false,
        mergeDomains: false,
      },
      {
        compile: (domains) => compileInSlices(domains, 500),
        clock,
        warn: console.error,
        parse: (...files) => probe.markDuring(parse(...files)),
      },
    ).loads$,
    {
      statistics: createRegistry(),
      logger,
      outages: createOutageLog({ logger, monotonicMs: () => performance.now() }),
      clock,
    },
    { startsWithoutRules: false, source: 'files' },
  );
  const loads$ = actor.run$.pipe(shareReplay({ bufferSize: 1, refCount: false }));
  const following = loads$.subscribe();
  await firstValueFrom(loads$);
  const stalls: number[] = [];
  while (stalls.length < MAX_RELOADS && Math.min(...stalls, Infinity) > WANTED_MS) {
    const refused = firstValueFrom(
      loads$.pipe(
        skip(1),
        filter(({ ok }) => !ok),
      ),
    );
    directory.write('root/config/many.yaml', manyMistakes(20_000 + stalls.length));
    const longest = probe.longestDuring(async () => {
      await refused;
      // The turn in which it was logged.
      probe.mark();
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
    });
    stalls.push(await longest);
  }
  following.unsubscribe();
  directory.remove();
  return stalls;
}

void measure().then((stalls) => {
  process.stdout.write(JSON.stringify(stalls));
  process.exit(0);
});
