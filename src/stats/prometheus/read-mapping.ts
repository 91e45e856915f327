import { readFileSync } from 'node:fs';
import type { Logger } from '../../platform/logger/logger';
import { BUILT_IN_MAPPING } from './built-in-mapping';
import type { MappingSet } from './mapping';
import { parseMapping } from './parse-mapping';

/** The mapping of a file; the built-in one, and an error in the log, when it cannot be had (choices §5). */
export function readMapping(
  file: string | undefined,
  { logger }: { readonly logger: Pick<Logger, 'error'> },
): MappingSet {
  if (file === undefined) return BUILT_IN_MAPPING;
  const problems: string[] = [];
  try {
    const parsed = parseMapping(readFileSync(file, 'utf8'));
    if (parsed.ok) return parsed.mapping;
    problems.push(...parsed.problems);
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  logger.error(`the mapping file ${file} is not used, the built-in mapping is`, { problems });
  return BUILT_IN_MAPPING;
}
