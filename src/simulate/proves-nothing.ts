import type { LogReader } from './log-reader';
import type { LineCounts } from './read-log';

/** Above this share of lines that cannot be read, a comparison proves nothing. */
const MAX_UNREADABLE_SHARE = 0.01;

export interface Evidence {
  readonly lines: LineCounts;
  /** How many rules a request met. */
  readonly rulesMet: number;
  readonly firstFields: LogReader['firstFields'];
  /** Whether two sets of rules are compared. */
  readonly isComparison: boolean;
}

/** Why a run says nothing about the rules; undefined: it does. */
export function whyItProvesNothing(evidence: Evidence): string | undefined {
  const { lines, rulesMet, isComparison } = evidence;
  const { read, unreadable, requests } = lines;
  if (read === 0) return 'the log has no line';
  if (unreadable === read) return 'no line can be read: check -format';
  if (requests === 0) return whyNoRequest(evidence);
  if (rulesMet === 0) return 'no request met a rule: check the domain and the keys';
  return isComparison && unreadable > read * MAX_UNREADABLE_SHARE
    ? 'more than 1 % of the lines cannot be read: check -format and -map'
    : undefined;
}

function whyNoRequest({ lines, firstFields }: Evidence): string {
  if (lines.withoutDescriptors === 0) return 'no line lies between -from and -to';
  const has = `the first line has the fields ${firstFields.join(', ')}`;
  return `no line gave a descriptor: check the fields and conditions of -map; ${has}`;
}
