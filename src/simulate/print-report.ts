import type { Comparison, ChangedLimit, RuleDifferences } from './compare-runs';
import type { SimulationReport, RuleReport } from './report';

/** The report as lines for a person, at most some 120 columns wide. */
export function printReport(report: SimulationReport): readonly string[] {
  const { lines, missingFields = [], requests, refused, sampleRate } = report;
  return [
    `${count(requests)} requests, ${count(refused)} refused (${share(refused, requests)})`,
    ...(sampleRate === undefined
      ? []
      : [
          `estimates: the log holds a share of ${String(sampleRate)} of all requests, limits were scaled by it`,
        ]),
    ...printLines(lines),
    ...missingFields.map((text) => `error: -map takes the ${text}, which is in no line of the log`),
    '',
    ...report.rules.flatMap(printRule),
    ...titled('refused most often', [
      ...report.mostLimited.map(({ key, refused: times }) => row(times, key)),
      ...othersRow(report.mostLimitedOthers, 'of keys beyond the first 16 MiB of refused keys'),
    ]),
    ...titled(
      'matched no limit',
      report.unmatched.map(({ domain, keys, requests: times, reason, hint }) =>
        row(times, `${domain}: ${keys === '' ? '(no entries)' : keys} (${reason}: ${hint})`),
      ),
    ),
  ];
}

export function printComparison(comparison: Comparison): readonly string[] {
  const { changed, okToOver, overToOk, pairs, pairsOthers, keys, keysOthers } = comparison;
  if (changed === 0) return ['no decision changes', ...printDifferences(comparison)];
  return [
    `${count(changed)} decisions change: ${count(okToOver)} OK→OVER_LIMIT, ${count(overToOk)} OVER_LIMIT→OK`,
    ...titled('by rule', [
      ...pairs.map(({ change, first, second, requests }) =>
        row(requests, `${change}  ${first} → ${second}`),
      ),
      ...othersRow(pairsOthers, 'by pairs beyond the first 16 MiB of them'),
    ]),
    ...titled('keys that change most', [
      ...keys.map(
        ({ key, okToOver: more, overToOk: less }) =>
          `${`+${count(more)}`.padStart(10)} ${`-${count(less)}`.padStart(10)}  ${key}`,
      ),
      ...othersRow(keysOthers, 'of keys beyond the first 16 MiB of changed keys'),
    ]),
    ...printDifferences(comparison),
  ];
}

function row(times: number, text: string): string {
  return `${count(times).padStart(10)}  ${text}`;
}

function othersRow(times: number, text: string): readonly string[] {
  return times === 0 ? [] : [row(times, text)];
}

function printDifferences(differences: RuleDifferences): readonly string[] {
  const { changedLimits, onlyInFirst, onlyInSecond } = differences;
  return [
    ...titled('changed limits', changedLimits.map(printChange)),
    ...titled('only in -config_dir', onlyInFirst),
    ...titled('only in -against', onlyInSecond),
  ];
}

/** `5 → 20 per minute` where only the number changes. */
function printChange({ rule, first, second }: ChangedLimit): string {
  const [before = first, ...rest] = first.split(' ');
  const [after, ...others] = second.split(' ');
  const words = rest.join(' ');
  const isNumberOnly = rest.length > 0 && words === others.join(' ');
  return `${rule}: ${isNumberOnly ? `${before} → ${String(after)} ${words}` : `${first} → ${second}`}`;
}

function printLines(lines: SimulationReport['lines']): readonly string[] {
  const aside = [
    [lines.withoutDescriptors, 'gave no descriptor'],
    [lines.outsideOfTimes, 'are outside -from and -to'],
    [lines.late, 'came later than -reorder allows and count at the newest time read'],
    [lines.unreadable, 'could not be read'],
  ] as const;
  const remarks = aside.filter(([lines_]) => lines_ > 0).map(([n, what]) => `${count(n)} ${what}`);
  return [
    `${count(lines.read)} lines${remarks.length === 0 ? '' : `; ${remarks.join(', ')}`}`,
    ...lines.firstUnreadable.map(({ line, reason }) => `  line ${String(line)}: ${reason}`),
  ];
}

function printRule(rule: RuleReport): readonly string[] {
  const { requests, over, shadow, near, use, smallestLimit, shadowMode } = rule;
  const parts = [
    `${count(requests)} requests`,
    shadowMode
      ? `${count(shadow)} would have been limited (${share(shadow, requests)})`
      : `${count(over)} over the limit (${share(over, requests)})`,
    `${count(near)} near it`,
    shadowMode
      ? `${count(rule.distinctKeys)} keys`
      : `${count(rule.distinctKeys)} keys, ${count(rule.keysLimited)} of them limited`,
  ];
  const mode = shadowMode ? ', shadow mode: refuses nothing' : '';
  const lines = [`${rule.rule}: ${rule.limit}${mode}`, `  ${parts.join(', ')}`];
  if (rule.limitsFrom !== undefined) {
    lines.push(`  limits_from: ${rule.limitsFrom} is not known here: the rule's limit taken`);
  }
  if (rule.firstLimited !== undefined) {
    const limited = shadowMode ? 'would have been limited' : 'limited';
    lines.push(`  ${limited} from ${rule.firstLimited} to ${rule.lastLimited ?? ''}`);
  }
  lines.push(...printBudget(rule));
  if (use !== undefined) {
    const { p50, p95, p99, max } = use;
    lines.push(
      `  share of the limit that a key uses in a window: p50 ${pct(p50)}, p95 ${pct(p95)}, p99 ${pct(p99)}, most ${pct(max)}`,
    );
  }
  if (smallestLimit !== undefined) {
    const { onePercent, onePerMille, none } = smallestLimit;
    lines.push(
      `  smallest limit that refuses less than 1 % of these requests: ${count(onePercent)}, less than 0.1 %: ${count(onePerMille)}, none: ${count(none)}`,
    );
  }
  return [...lines, ''];
}

function printBudget({ limits = [], budget }: RuleReport): readonly string[] {
  const refused = limits.map(({ name, over }) => `${count(over)} by ${name}`);
  return [
    ...(refused.length > 0 ? [`  hits refused: ${refused.join(', ')}`] : []),
    ...(budget === undefined ? [] : [...printReservations(budget), ...printBlocks(budget)]),
  ];
}

type BudgetReport = NonNullable<RuleReport['budget']>;

function printReservations(budget: BudgetReport): readonly string[] {
  const { reserved, settled, lapsed, settledUnknown } = budget;
  if (reserved + settled + lapsed + settledUnknown === 0) return [];
  const parts = [
    `${count(reserved)} hits held`,
    `${count(settled)} charged when they were settled`,
    `${count(lapsed)} by the end of a lease`,
    ...(settledUnknown > 0 ? [`${count(settledUnknown)} settled that were not open`] : []),
  ];
  return [`  ${parts.join(', ')}`];
}

function printBlocks({ blocks, blocked }: BudgetReport): readonly string[] {
  if (blocks + blocked === 0) return [];
  return [`  ${count(blocks)} blocks, which refused ${count(blocked)} hits`];
}

function titled(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`), ''];
}

function pct(percent: number): string {
  return `${String(percent)} %`;
}

function share(part: number, whole: number): string {
  return whole === 0 ? '0 %' : `${((100 * part) / whole).toFixed(2)} %`;
}

/** With separated thousands, the same in every locale. */
function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}
