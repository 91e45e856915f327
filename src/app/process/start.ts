import type { Logger } from '../../platform/logger';
import { memoryWarning, readHeapLimit } from '../store/memory-store';
import type { Settings } from '../../settings/settings';
import { packageVersion } from '../../platform/package';
import { describeRuleSource } from '../rules/rule-source';

export interface Start {
  readonly settings: Settings;
  readonly warnings: readonly string[];
  readonly logger: Logger;
}

/** The first lines of the log: warnings, so that they are logged at the default level. */
export function logStart(
  { settings, warnings, logger }: Start,
  facts: {
    readonly counters: string;
    readonly timeZones: string;
    readonly workers?: number;
  },
): void {
  const { store, perSecondStore } = settings;
  logger.warn(`starting weir ${packageVersion()}`, {
    node: process.version,
    rules: describeRuleSource(settings),
    ...facts,
  });
  for (const warning of warnings) logger.warn(warning);
  // Several workers count in Redis or memcached, and have heaps of their own.
  const tooLarge =
    facts.workers === undefined ? memoryWarning(settings.memory, readHeapLimit()) : undefined;
  if (tooLarge !== undefined) logger.warn(tooLarge);
  const slowest = Math.max(...[store, perSecondStore].map((each) => each?.timeoutMs ?? 0));
  if (slowest > LONGEST_WAIT_MS) logger.warn(LONG_TIMEOUT, { timeoutMs: slowest });
}

const LONGEST_WAIT_MS = 1_000;
const LONG_TIMEOUT =
  'KVSTORE_TIMEOUT is longer than proxies wait (20 ms by default): while the store is slow they give up first, and limits are not enforced; expected 10 ms less than the proxy waits';
