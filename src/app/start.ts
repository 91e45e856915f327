import type { Logger } from '../platform/logger/logger';
import type { Settings } from '../settings/settings';
import { packageVersion } from './package-version';
import { describeRuleSource } from './rule-source';

/** What is known when a service starts. */
export interface Start {
  readonly settings: Settings;
  readonly warnings: readonly string[];
  readonly logger: Logger;
}

/** The first lines of the log: warnings, so that they are there at the default level. */
export function logStart(
  { settings, warnings, logger }: Start,
  facts: { readonly counters: string; readonly workers?: number },
): void {
  logger.warn(`starting weir ${packageVersion()}`, {
    node: process.version,
    rules: describeRuleSource(settings),
    ...facts,
  });
  for (const warning of warnings) logger.warn(warning);
}
