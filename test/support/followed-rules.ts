import { messageOf } from '../../src/fields/problem';
import { filter, firstValueFrom, ReplaySubject } from 'rxjs';
import {
  createDirectorySource,
  parseInProcess,
  type DirectorySourceOptions,
} from '../../src/rule-sources/directory-source';
import type { LoadResult } from '../../src/rule-sources/load-result';
import type { Clock } from '../../src/core/ports';
import type { ParseRules } from '../../src/rule-sources/loader/rule-loader';
import { compileInSlices } from '../../src/core/rules/compile';
import { dumpRules } from '../../src/core/rules/dump';
import type { Rules } from '../../src/core/rules/rules';

export interface FollowedRules {
  readonly loads: readonly LoadResult<Rules>[];
  readonly warnings: readonly string[];
  /** Waits until so many loads have come and answers what the newest says. */
  loaded(count: number): Promise<string>;
  /** Only waits until so many loads have come. */
  counted(count: number): Promise<void>;
  stop(): void;
}

export interface FollowDeps {
  readonly parse?: ParseRules;
  /** Who changes files while they are read gives the real one: it tells the files that have just changed. */
  readonly clock?: Clock;
}

/** Follows a directory of rule files with the watch alone: the poll is too slow to help. */
export function followRules(
  options: Partial<DirectorySourceOptions>,
  { parse = parseInProcess, clock = () => 0 }: FollowDeps = {},
): FollowedRules {
  const loads: LoadResult<Rules>[] = [];
  const warnings: string[] = [];
  const loadSubject = new ReplaySubject<LoadResult<Rules>>(1);
  const following = createDirectorySource(
    {
      root: '/does/not/exist',
      subdirectory: '',
      appDirectory: 'config',
      ignoreDotFiles: false,
      mergeDomains: false,
      pollMs: 600_000,
      ...options,
    },
    {
      compile: (domains) => compileInSlices(domains, 250),
      clock,
      warn: (message) => warnings.push(message),
      parse,
    },
  ).loads$.subscribe((load) => {
    loads.push(load);
    loadSubject.next(load);
  });
  const counted = async (count: number) => {
    await firstValueFrom(loadSubject.pipe(filter(() => loads.length >= count)));
  };
  return {
    loads,
    warnings,
    counted,
    loaded: async (count) => {
      await counted(count);
      return describeLoad(loads.at(-1));
    },
    stop: () => {
      following.unsubscribe();
    },
  };
}

/** A load in one line: `shop=5 web=7` (domains and the limit of their `user` rule), or its problems. */
export function describeLoad(load: LoadResult<Rules> | undefined): string {
  if (load === undefined) return 'no load';
  const problems = load.problems.map(
    (problem) => `${problem.severity} ${problem.file}: ${messageOf(problem)}`,
  );
  if (!load.ok) return problems.join('\n');
  const limits = dumpRules(load.rules).map((line) =>
    line.replace(/\.user: unit=HOUR requests_per_unit=(\d+),.*/, '=$1'),
  );
  return [limits.join(' '), ...problems].join('\n');
}
