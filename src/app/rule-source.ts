import type { Observable } from 'rxjs';
import { createDirectorySource } from '../config/directory-source';
import type { LoadResult } from '../config/load-result';
import type { Clock } from '../core/ports';
import { compileInSlices } from '../core/rules/compile';
import type { Rules } from '../core/rules/rules';
import type { Logger } from '../platform/logger/logger';
import type { Settings } from '../settings/settings';

/** Entries compiled in one go: a fraction of a millisecond. */
const SLICE = 500;

/** The loads of the rule files that the settings name. */
export function ruleFileLoads(
  { configuration }: Settings,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
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
