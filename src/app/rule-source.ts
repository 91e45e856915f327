import type { Observable } from 'rxjs';
import { directoryOf, type DirectoryOptions } from '../rule-sources/directory/survey';
import { createDirectorySource } from '../rule-sources/directory-source';
import type { LoadResult } from '../rule-sources/load-result';
import { compileInSlices } from '../core/rules/compile';
import type { ParseOptions } from '../core/rules/parse/options';
import type { Rules } from '../core/rules/rules';
import type { Settings } from '../settings/settings';
import { late } from './late';
import type { ManagementServerDeps } from './xds-source';

/** Entries compiled in one go: a fraction of a millisecond. */
const SLICE = 500;

/** The loads of the rules from where the settings say: files, or a management server. */
export function ruleLoads(
  settings: Settings,
  deps: ManagementServerDeps,
): Observable<LoadResult<Rules>> {
  return settings.configuration.type === 'FILE'
    ? directoryLoads(settings, deps)
    : late.xdsSource().managementServerLoads(settings, toParseOptions(settings), deps);
}

/** Where the rules come from, for the log. */
export function describeRuleSource({ configuration, xds }: Settings): string {
  if (configuration.type !== 'FILE') return `management server at ${xds.serverTarget}`;
  return directoryOf(toPlace(configuration));
}

function toPlace(configuration: Settings['configuration']): DirectoryOptions {
  return {
    root: configuration.runtimeRoot,
    subdirectory: configuration.runtimeSubdirectory ?? '',
    appDirectory: configuration.runtimeAppDirectory,
    ignoreDotFiles: configuration.runtimeIgnoreDotFiles,
  };
}

/** What rules may ask of the store. */
function toParseOptions({ configuration, backend }: Settings): ParseOptions {
  const withoutHashes = backend === 'kvstore' ? undefined : `BACKEND_TYPE=${backend}`;
  return { mergeDomains: configuration.mergeDomains, withoutHashes };
}

function directoryLoads(
  settings: Settings,
  { clock, logger }: Pick<ManagementServerDeps, 'clock' | 'logger'>,
): Observable<LoadResult<Rules>> {
  return createDirectorySource(
    {
      ...toPlace(settings.configuration),
      ...toParseOptions(settings),
    },
    {
      compile: (domains) => compileInSlices(domains, SLICE),
      clock,
      warn: (message) => {
        logger.warn(message);
      },
    },
  ).loads$;
}
