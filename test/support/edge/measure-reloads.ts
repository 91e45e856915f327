import { filter, firstValueFrom, shareReplay, skip } from 'rxjs';
import { createDirectorySource } from '../../../src/rule-sources/directory-source';
import { compileInSlices } from '../../../src/core/rules/compile';
import { createStallProbe } from './event-loop-stall';
import { manyRules } from '../many-rules';
import { parseInTypescriptWorker } from '../parse-in-typescript-worker';
import { createTemporaryDirectory } from '../rule-directory';

const WANTED_MS = 25;
/** A machine on which much else runs needs several before nobody disturbs one. */
const MAX_RELOADS = 30;

/**
 * A process of its own, with nothing in it but a source of rules: reloads 10,000 rules until no
 * turn of the event loop with a part of the reload in it took more than 25 ms, thirty times at most.
 * Prints the longest turn of each, in milliseconds.
 */
async function measure(): Promise<number[]> {
  const directory = createTemporaryDirectory();
  directory.write('root/config/many.yaml', manyRules(10_000, 1));
  const probe = createStallProbe();
  const parse = parseInTypescriptWorker();
  const loads$ = createDirectorySource(
    {
      root: directory.at('root'),
      subdirectory: '',
      appDirectory: 'config',
      ignoreDotFiles: false,
      mergeDomains: false,
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
      warn: console.error,
      parse: (...files) => probe.markDuring(parse(...files)),
    },
  ).loads$.pipe(
    filter((load) => load.ok),
    shareReplay({ bufferSize: 1, refCount: false }),
  );
  const following = loads$.subscribe();
  await firstValueFrom(loads$);
  const stalls: number[] = [];
  while (stalls.length < MAX_RELOADS && Math.min(...stalls, Infinity) > WANTED_MS) {
    const text = manyRules(10_000, stalls.length + 2);
    const reloaded = firstValueFrom(loads$.pipe(skip(1)));
    directory.write('root/config/many.yaml', text);
    stalls.push(await probe.longestDuring(() => reloaded));
  }
  following.unsubscribe();
  directory.remove();
  return stalls;
}

void measure().then((stalls) => {
  process.stdout.write(JSON.stringify(stalls));
  process.exit(0);
});
