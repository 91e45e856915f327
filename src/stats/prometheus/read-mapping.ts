import { readFileSync } from 'node:fs';
import type { Logger } from '../../platform/logger/logger';
import { builtInMapping } from './built-in-mapping';
import type { MappingSet } from './mapping';
import { parseMapping } from './parse-mapping';

export interface ReadMappingDeps {
  readonly logger: Pick<Logger, 'error'>;
  /** PULLMETRICS_RESPONSE_TIME_AS_MILLISECONDS: of the built-in mapping; a file gets milliseconds anyway. */
  readonly inMilliseconds: boolean;
}

/** The mapping of a file; the built-in one, and an error in the log, when it cannot be had (behaviour.md §6.4). */
export function readMapping(file: string | undefined, deps: ReadMappingDeps): MappingSet {
  const builtIn = builtInMapping(deps.inMilliseconds ? 1000 : 1);
  if (file === undefined) return builtIn;
  const problems: string[] = [];
  try {
    const parsed = parseMapping(readFileSync(file, 'utf8'));
    if (parsed.ok) return parsed.mapping;
    problems.push(...parsed.problems);
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  deps.logger.error(`the mapping file ${file} is not used, the built-in mapping is`, { problems });
  return builtIn;
}
