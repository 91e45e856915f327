import { toDecisionRecord } from '../../core/decision/decision-record';
import type { Json, JsonObject } from '../../core/model';
import type { Clock } from '../../core/ports';
import type { DecisionLog } from '../../decisions/log-decisions';
import type { Logger } from '../../platform/logger';

/** Decisions in the log under LOG_LEVEL=debug. */
export interface DebugDecisions extends DecisionLog {
  close(): void;
}

/** Enough to follow a single client; a log that grows with the load would slow the service down. */
const MAX_PER_SECOND = 100;
const REPORT_AFTER_MS = 1_000;

/** Logs the decision record of a bounded number of decisions per second, and how many were left out. */
export function createDebugDecisions({
  clock,
  logger,
}: {
  readonly clock: Clock;
  readonly logger: Logger;
}): DebugDecisions {
  let second = NaN;
  let written = 0;
  let leftOut = 0;
  let report: NodeJS.Timeout | undefined;

  const reportLeftOut = (): void => {
    report = undefined;
    if (leftOut > 0) {
      const message = `decisions were left out of the log: more than ${String(MAX_PER_SECOND)} in a second`;
      logger.debug(message, { decisions: leftOut });
    }
    leftOut = 0;
  };
  return {
    isWanted() {
      const now = Math.floor(clock());
      if (now !== second) [second, written] = [now, 0];
      written += 1;
      if (written <= MAX_PER_SECOND) return true;
      leftOut += 1;
      report ??= setTimeout(reportLeftOut, REPORT_AFTER_MS).unref();
      return false;
    },
    write(record) {
      const { time, ...facts } = toDecisionRecord(record);
      logger.debug('decided', { ...listsAsText(facts), at: time });
    },
    close() {
      clearTimeout(report);
      reportLeftOut();
    },
  };
}

/** Each list as a string, `user=ann,path=/; user=bob`: a line of the log would have a field for each of its items. */
function listsAsText(facts: JsonObject): JsonObject {
  const entries = Object.entries(facts).map(([name, fact]): [string, Json] => {
    const separators = name === 'descriptors' ? ['; ', ',', '='] : ['; ', ' '];
    return [name, Array.isArray(fact) ? joined(fact, separators) : fact];
  });
  return Object.fromEntries(entries);
}

function joined(value: Json, [separator, ...inner]: readonly string[]): string {
  if (value === null) return 'none';
  if (!Array.isArray(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  return value.map((each: Json) => joined(each, inner)).join(separator);
}

/** One log in place of two; each selects its own decisions. */
export function bothLogs(
  first: DecisionLog | undefined,
  second: DecisionLog | undefined,
): DecisionLog | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  let isForFirst = false;
  let isForSecond = false;
  return {
    isWanted(isRefused) {
      isForFirst = first.isWanted(isRefused);
      isForSecond = second.isWanted(isRefused);
      return isForFirst || isForSecond;
    },
    write(record) {
      if (isForFirst) first.write(record);
      if (isForSecond) second.write(record);
    },
  };
}
