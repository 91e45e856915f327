import { overlaidText, type OverlaidFields } from './overlays/overlay';
import { describeLimit, isPlain, unitOf, zoneDataText } from './describe-limit';
import type { RuleLevel, RuleLimit, RuleNode, Rules } from './rules';

/** A limit and the path of keys and values that leads to it: `shop.user_ann.path`. */
export interface LimitPlace {
  readonly path: string;
  readonly limit: RuleLimit;
  /** Its domain has `charge: together`. */
  readonly isChargedTogether: boolean;
  /** What it has from overlays. */
  readonly overlaid: readonly OverlaidFields[];
}

/**
 * One line for each limit, as `/rlconfig` prints it: `shop.user_ann.path: unit=HOUR requests_per_unit=2, shadow_mode: false,
 * quota_mode: false`; for a rule with several limits `unit=… requests_per_unit=…` for each, in the order of the rule. What applies
 * is added: the words of a limit that is more than hits per unit (`, limit: 600 per 5 minutes, bursts of 20`), `, charge:
 * together`, `, leased: true`, for a calendar its time zone data (`, time_zone_data: 2026f of Weir`), and what the rule has from
 * overlays (`, algorithm, burst by the overlay at overlays.yaml:3`).
 */
export function dumpRules(rules: Rules): readonly string[] {
  return listLimits(rules).map(dumpLimit);
}

/** `dumpRules` line by line; undefined: a rule without a limit. */
export function* linesOfRules(rules: Rules): Generator<string | undefined, void> {
  for (const place of placesOfLimits(rules)) yield place && dumpLimit(place);
}

/** All limits, in the order of the rule files. */
export function listLimits(rules: Rules): readonly LimitPlace[] {
  return [...placesOfLimits(rules)].filter((place) => place !== undefined);
}

export function dumpLimit({ path, limit, isChargedTogether, overlaid }: LimitPlace): string {
  const rates = (limit.budget?.entries ?? [limit]).map(rateOf).join(' ');
  const zoneData = zoneDataText(limit);
  const zones = zoneData === undefined ? '' : `, time_zone_data: ${zoneData}`;
  const words = isPlain(limit) ? '' : `, limit: ${describeLimit(limit)}`;
  return `${path}: ${rates}, shadow_mode: ${String(limit.shadowMode)}, quota_mode: ${String(limit.quotaMode)}${words}${isChargedTogether ? ', charge: together' : ''}${limit.isLeased === true ? ', leased: true' : ''}${zones}${overlaid.map((one) => `, ${overlaidText(one)}`).join('')}`;
}

function rateOf(limit: RuleLimit): string {
  const unit = limit.unlimited ? 'UNKNOWN' : unitOf(limit);
  return `unit=${unit} requests_per_unit=${String(limit.requestsPerUnit)}`;
}

/** The limit of each rule; undefined where it has none. */
export function* placesOfLimits({
  domains,
  places,
}: Rules): Generator<LimitPlace | undefined, void> {
  for (const { domain, top, isChargedTogether } of domains.values())
    for (const found of limitsOfLevel(top, domain)) {
      if (found === undefined) yield undefined;
      else {
        const { path, node, limit } = found;
        yield { path, limit, isChargedTogether, overlaid: places.get(node)?.overlaid ?? [] };
      }
    }
}

interface Found extends Pick<LimitPlace, 'path' | 'limit'> {
  readonly node: RuleNode;
}

function* limitsOfLevel(level: RuleLevel, path: string): Generator<Found | undefined, void> {
  const keys = level instanceof Map ? level.values() : [level];
  for (const { key, byValue, wildcards, anyValue } of keys) {
    for (const node of byValue?.values() ?? [])
      yield* limitsOfNode(node, `${path}.${node.segment}`);
    for (const { pattern, node } of wildcards?.inOrder ?? [])
      yield* limitsOfNode(node, `${path}.${key}_${pattern}`);
    if (anyValue !== undefined) yield* limitsOfNode(anyValue, `${path}.${key}`);
  }
}

function* limitsOfNode(node: RuleNode, path: string): Generator<Found | undefined, void> {
  const { limit, children } = node;
  // The ids of reservations are not in the file.
  if (limit?.reservation !== undefined) return;
  yield limit && { path, node, limit };
  if (children !== undefined) yield* limitsOfLevel(children, path);
}
