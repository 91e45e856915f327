import { toDecisionRecord } from '../../core/decision/decision-record';
import type { Clock, Random } from '../../core/ports';
import type { DecisionLog } from '../../decisions/log-decisions';
import { describeCode, errorCode } from '../../platform/errors';
import { escapeInvisible } from '../../platform/logger';
import type { DecisionLogSettings } from '../../settings/logging';
import { openCountedLines, type CountedLinesDeps } from './counted-lines';

export interface DecisionLogDeps extends CountedLinesDeps {
  readonly clock: Clock;
  readonly random: Random;
}

export interface DecisionLogOwner extends DecisionLog {
  readonly close: () => Promise<void>;
}

const CLOSE_WITHIN_MS = 1_000;

/** The decision log of the settings; undefined: none. Throws when its file cannot be opened. */
export function createDecisionLog(
  { mode, sample, file, maxPerSecond }: DecisionLogSettings,
  { clock, random, ...deps }: DecisionLogDeps,
): DecisionLogOwner | undefined {
  if (mode === 'off') return undefined;
  let second = NaN;
  let written = 0;
  const lines = openOrSay(file, deps);

  return {
    isWanted(isRefused) {
      if (!isRefused && (mode === 'over' || random() >= sample)) return false;
      const now = Math.floor(clock());
      if (now !== second) [second, written] = [now, 0];
      if (written < maxPerSecond) {
        written += 1;
        return true;
      }
      lines.drop();
      return false;
    },
    write(record) {
      lines.write(`${escapeInvisible(JSON.stringify(toDecisionRecord(record)))}\n`);
    },
    close: () => lines.close(CLOSE_WITHIN_MS),
  };
}

function openOrSay(file: string | undefined, deps: CountedLinesDeps) {
  try {
    return openCountedLines(file, deps);
  } catch (error) {
    const setting = `DECISION_LOG_FILE=${JSON.stringify(file)}`;
    const code = errorCode(error);
    const reason = code === 'ENXIO' ? 'no process reads this FIFO (ENXIO)' : describeCode(code);
    throw new Error(`${setting}: cannot open the file: ${reason}`, { cause: error });
  }
}
