import type { Observable } from 'rxjs';
import { createDirectorySource } from '../config/directory-source';
import type { LoadResult } from '../config/load-result';
import { compileInSlices } from '../core/rules/compile';
import type { Rules } from '../core/rules/rules';
import type { Settings } from '../settings/settings';
import type * as XdsSource from './xds-source';
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
    : loadXdsSource().managementServerLoads(settings, deps);
}

/** Loaded only when it is used: start-up time. */
function loadXdsSource(): typeof XdsSource {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- late on purpose
  return require('./xds-source') as typeof XdsSource;
}

function directoryLoads(
  { configuration }: Settings,
  { clock, logger }: Pick<ManagementServerDeps, 'clock' | 'logger'>,
): Observable<LoadResult<Rules>> {
  return createDirectorySource(
    {
      root: configuration.runtimeRoot,
      subdirectory: configuration.runtimeSubdirectory ?? '',
      appDirectory: configuration.runtimeAppDirectory,
      ignoreDotFiles: configuration.runtimeIgnoreDotFiles,
      mergeDomains: configuration.mergeDomains,
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
