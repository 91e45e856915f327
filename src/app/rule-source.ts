import type { Observable } from 'rxjs';
import { directoryOf, type DirectoryOptions } from '../rule-sources/directory/survey';
import { createDirectorySource } from '../rule-sources/directory-source';
import type { LoadResult } from '../rule-sources/load-result';
import type { RulesVersion } from '../core/explain/explanation';
import type { Rules } from '../core/rules/rules';
import type { Settings } from '../settings/settings';
import { compileAndTell } from './compile-and-tell';
import { storeAbilities } from './store-abilities';
import { lazy } from './lazy';
import { toSecretKeyIds } from './to-options';
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
    : lazy.xdsSource().managementServerLoads(settings, deps);
}

/** What explanations and metrics call the source. */
export function ruleSourceKind({ configuration }: Settings): RulesVersion['source'] {
  return configuration.type === 'FILE' ? 'files' : 'xds';
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
  settings: Settings,
  {
    clock,
    logger,
    tokens,
    onCompiled,
  }: Pick<ManagementServerDeps, 'clock' | 'logger' | 'tokens' | 'onCompiled'>,
): Observable<LoadResult<Rules>> {
  const { configuration, decisions } = settings;
  return createDirectorySource(
    {
      ...toPlace(configuration),
      mergeDomains: configuration.mergeDomains,
      abilities: storeAbilities(settings),
      secretKeyIds: toSecretKeyIds(settings.secrets),
    },
    {
      compile: (domains) => compileAndTell(domains, SLICE, { ...decisions, tokens }, onCompiled),
      clock,
      warn: (message) => {
        logger.warn(message);
      },
    },
  ).loads$;
}
