import { toDecisionRecord } from '../../core/decision/decision-record';
import type { Clock, Random, Statistics } from '../../core/ports';
import type { DecisionLog } from '../../decisions/log-decisions';
import { describeCode, errorCode } from '../../platform/errors';
import { openLineFile, type LineFile, type LineFileOptions } from '../../platform/line-file';
import { escapeInvisible } from '../../platform/logger/logfmt';
import type { Logger } from '../../platform/logger/logger';
import type { DecisionLogSettings } from '../../settings/decision-log';
import { createDroppedLines } from './dropped-lines';

export interface DecisionLogDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly statistics: Pick<Statistics, 'count'>;
  readonly logger: Logger;
  /** Default: `openLineFile`. */
  readonly open?: ((options: LineFileOptions) => LineFile) | undefined;
}

export interface DecisionLogOwner extends DecisionLog {
  readonly close: () => Promise<void>;
}

/** Most bytes that wait for the file. */
const MAX_BYTES = 4_194_304;
const CLOSE_WITHIN_MS = 1_000;

/** The decision log that the settings ask for; undefined: none. Throws when its file cannot be opened. */
export function createDecisionLog(
  { mode, sample, file, maxPerSecond }: DecisionLogSettings,
  { clock, random, statistics, logger, open = openLineFile }: DecisionLogDeps,
): DecisionLogOwner | undefined {
  if (mode === 'off') return undefined;
  let second = NaN;
  let written = 0;
  const drops = createDroppedLines({ statistics, logger });
  const lines = openOrSay(open, {
    path: file,
    maxBytes: MAX_BYTES,
    onDropped: drops.add,
    onError: drops.explain,
  });

  return {
    isWanted(isRefused) {
      if (!isRefused && (mode === 'over' || random() >= sample)) return false;
      const now = Math.floor(clock());
      if (now !== second) [second, written] = [now, 0];
      if (written < maxPerSecond) {
        written += 1;
        return true;
      }
      drops.add();
      return false;
    },
    write(record) {
      lines.write(`${escapeInvisible(JSON.stringify(toDecisionRecord(record)))}\n`);
    },
    async close() {
      await lines.close(CLOSE_WITHIN_MS);
      drops.close();
    },
  };
}

function openOrSay(open: typeof openLineFile, options: LineFileOptions): LineFile {
  try {
    return open(options);
  } catch (error) {
    const setting = `DECISION_LOG_FILE=${JSON.stringify(options.path)}`;
    const code = errorCode(error);
    const reason = code === 'ENXIO' ? 'no process reads this FIFO (ENXIO)' : describeCode(code);
    throw new Error(`${setting}: cannot open the file: ${reason}`, { cause: error });
  }
}
