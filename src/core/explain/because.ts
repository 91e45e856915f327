import type { Decision, DescriptorStatus } from '../model';
import type { RuleLimit } from '../rules/rules';

/** One descriptor of a decision, reduced to what decides the overall code. */
export interface Judged {
  readonly status: DescriptorStatus;
  /** Undefined where no limit applies. */
  readonly limit: RuleLimit | undefined;
  /** Its counter would stand above the limit. */
  readonly isOver: boolean;
}

export interface JudgedBy {
  /** QUOTA_MODE: every rule is a quota. */
  readonly quotaMode: boolean;
  /** SHADOW_MODE: the overall code is always OK. */
  readonly shadowMode: boolean;
}

/** Why a decision has its overall code, in a sentence. */
export function because(
  { overallCode }: Pick<Decision, 'overallCode'>,
  judged: readonly Judged[],
  { quotaMode, shadowMode }: JudgedBy,
): string {
  const isQuota = ({ limit }: Judged): boolean => quotaMode || limit?.quotaMode === true;
  const over = judged.findIndex((one) => isRefused(one) && !isQuota(one));
  const quota = judged.findIndex((one) => isRefused(one) && isQuota(one));
  if (overallCode === 'OVER_LIMIT') {
    return over === -1
      ? 'every quota is over'
      : `${nameOf(over)} is over a limit that is not a quota`;
  }
  if (shadowMode && (over !== -1 || quota !== -1)) {
    return `${nameOf(over === -1 ? quota : over)} is over its limit, and SHADOW_MODE answers OK`;
  }
  if (quota !== -1) return `${nameOf(quota)} is over its quota, and another quota is not`;
  const shadowed = judged.findIndex(({ limit, isOver }) => isOver && limit?.shadowMode === true);
  if (shadowed !== -1)
    return `${nameOf(shadowed)} is over a limit in shadow mode, which never refuses`;
  return judged.every(({ limit }) => limit === undefined)
    ? 'no descriptor matches a limit'
    : 'no descriptor is over its limit';
}

function isRefused({ status }: Judged): boolean {
  return status.code === 'OVER_LIMIT';
}

function nameOf(index: number): string {
  return `descriptors[${String(index)}]`;
}
