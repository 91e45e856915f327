import type { Observable } from 'rxjs';
import { directoryOf, type DirectoryOptions } from '../rule-sources/directory/survey';
import { createDirectorySource } from '../rule-sources/directory-source';
import type { LoadResult } from '../rule-sources/load-result';
import type { Rules } from '../core/rules/rules';
import type { Settings } from '../settings/settings';
import { compileAndTell } from './compile-and-tell';
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
    : late.xdsSource().managementServerLoads(settings, deps);
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

function directoryLoads(
  { configuration }: Settings,
  { clock, logger, onCompiled }: Pick<ManagementServerDeps, 'clock' | 'logger' | 'onCompiled'>,
): Observable<LoadResult<Rules>> {
  return createDirectorySource(
    {
      ...toPlace(configuration),
      mergeDomains: configuration.mergeDomains,
    },
    {
      compile: (domains) => compileAndTell(domains, SLICE, onCompiled),
      clock,
      warn: (message) => {
        logger.warn(message);
      },
    },
  ).loads$;
}
