import type { DomainDefinition, ParsedRules } from '../definition';
import { readCharge } from './charge';
import { OverlayFinder } from '../overlays/find-overlays';
import type { Overlay, OverlaySet } from '../overlays/overlay';
import { readDescriptors, type DomainDraft, type OverlayUse } from './descriptors';
import { refuseLeasedTogether } from './leased';
import { describe, quote, type Located, type LocatedMap } from '../../../fields/located';
import { byPlace, isError, type Place, type RuleProblem } from '../../../fields/problem';
import { warnOfUnknownNames } from './replaces';
import { findSecretKeys, type SecretOptions, type SecretRules } from './secrets';
import { createReport, type Report, type SourceNoun } from '../../../fields/report';
import type { StoreAbilities } from './store-abilities';
import { present } from '../../../fields/scalars';
import type { HasZone } from '../../windows/zone-data';
import { RuleFields } from './rule-fields';

/** One file (or xDS resource): its tree, and the problems found while reading it. */
export interface RuleSource {
  readonly file: string;
  /** What messages call it; default: a file. */
  readonly noun?: SourceNoun;
  /** Undefined when the file is empty or, with an error in `problems`, could not be read. */
  readonly root: Located | undefined;
  readonly problems: readonly RuleProblem[];
}

export interface ParseOptions extends SecretOptions {
  /** MERGE_DOMAIN_CONFIG: several files may have the same domain. */
  readonly mergeDomains: boolean;
  /** Undefined: whether a store can count by the rules is not checked. */
  readonly abilities?: StoreAbilities | undefined;
  /** Knows time zones that the runtime lacks; undefined: only the runtime decides. */
  readonly hasZone?: HasZone | undefined;
  /** RULE_OVERLAYS; undefined: there are none. */
  readonly overlays?: OverlaySet | undefined;
}

interface Reading extends ParseOptions {
  readonly secrets: SecretRules;
  readonly overlaysOf: OverlayFinder;
  readonly overlaid: OverlayUse;
}

/**
 * Checks rule files, in the order of their names, and lists every problem by file, line and column. With any error there are no
 * domains (behaviour.md §2.11).
 */
export function parseRuleFiles(files: readonly RuleSource[], options: ParseOptions): ParsedRules {
  const drafts: Drafts = new Map();
  const keys = findSecretKeys(files.map(({ root }) => root));
  const secrets: SecretRules = { keys, secretKeyIds: options.secretKeyIds };
  const overlays = JSON.parse(options.overlays?.text ?? '[]') as readonly Overlay[];
  const overlaid: OverlayUse = { met: new Set(), given: 0, refused: 0 };
  const reading = { ...options, secrets, overlaysOf: new OverlayFinder(overlays), overlaid };
  const found = files.toSorted(byName).map(({ file, noun, root, problems }) => {
    const ofFile = [...problems];
    const unreadable = root === undefined && problems.some(isError);
    if (!unreadable) readFile(root, drafts, reading, createReport(file, ofFile, noun));
    return ofFile;
  });
  for (const { names, charges, leases } of drafts.values()) {
    warnOfUnknownNames(names);
    if (isTogether(charges)) refuseLeasedTogether(leases);
  }
  const problems = found.flatMap((ofFile) => ofFile.sort(byPlace));
  if (problems.some(isError)) return { domains: [], problems: problems.filter(isCertain) };
  const domains = [...drafts].map(toDomain);
  if (overlays.length === 0) return { domains, problems };
  const idle = overlays.filter((one) => !overlaid.met.has(one)).map(toIdle);
  const { given, refused } = overlaid;
  return { domains, problems: [...problems, ...idle], overlaid: { given, refused } };
}

function toIdle({ file, at }: Overlay): RuleProblem {
  const message = 'this overlay matches no rule: expected a rule of its domain with its path';
  return { severity: 'warning', class: 'idle-overlay', file, at, message };
}

function toDomain([domain, { rules, charges }]: readonly [string, Draft]): DomainDefinition {
  const isChargedTogether = isTogether(charges);
  return isChargedTogether ? { domain, isChargedTogether, rules } : { domain, rules };
}

function isTogether([first]: Draft['charges']): boolean {
  return first?.charge === 'together';
}

/** A missing limit may be hidden by a mistake; then it is not reported. */
function isCertain(problem: RuleProblem): boolean {
  return problem.class !== 'no-limit';
}

type Draft = DomainDraft & { readonly file: string; readonly at: Place };
type Drafts = Map<string, Draft>;

function readFile(
  root: Located | undefined,
  drafts: Drafts,
  options: Reading,
  report: Report,
): void {
  const map = readRoot(root, report);
  if (map === undefined || isConfigMap(map, report)) return;
  const fields = new RuleFields(map, 'file', report);
  const domain = fields.read('domain');
  const at = fields.at('domain');
  const draft =
    domain === undefined || domain === ''
      ? createDraft('', at, options, report)
      : draftOf(domain, at, drafts, options, report);
  readCharge(fields, draft);
  readDescriptors(fields, draft);
}

/** The draft for the entries of a file: a new one, or that of an earlier file to merge with. */
function draftOf(
  domain: string,
  at: Place,
  drafts: Drafts,
  reading: Reading,
  report: Report,
): Draft {
  const known = drafts.get(domain);
  if (known !== undefined && reading.mergeDomains) return known;
  const draft = createDraft(domain, at, reading, report);
  if (known === undefined) drafts.set(domain, draft);
  else {
    const line = 'line' in known.at ? `, line ${String(known.at.line)}` : '';
    const place = `${known.file}${line}`;
    const message = `domain ${quote(domain)} is already defined in ${place}; expected one ${report.noun} for a domain, or MERGE_DOMAIN_CONFIG=true`;
    report.error(at, 'duplicate-domain', message);
  }
  return draft;
}

function createDraft(
  domain: string,
  at: Place,
  { abilities, hasZone, secrets, overlaysOf, overlaid }: Reading,
  { file }: Report,
): Draft {
  const names = { defined: new Set<string>(), replaced: [] };
  const noted = { charges: [], leases: [], overlays: overlaysOf.of(domain), overlaid };
  const rest = { abilities, hasZone, ...noted, secrets, file, at };
  return { rules: [], top: new Map(), names, ...rest };
}

function readRoot(root: Located | undefined, report: Report): LocatedMap | undefined {
  if (root?.kind === 'map') return root;
  const expected = 'expected a map with domain and descriptors';
  const node = present(root);
  if (node === undefined) {
    report.error(
      { line: 1, column: 1 },
      'empty-domain',
      `the ${report.noun} is empty: ${expected}`,
    );
  } else
    report.error(node.at, 'wrong-type', `the ${report.noun} is ${describe(node)}: ${expected}`);
  return undefined;
}

function byName(a: RuleSource, b: RuleSource): number {
  return a.file < b.file ? -1 : a.file > b.file ? 1 : 0;
}

/** Whether the file is a Kubernetes manifest around rules, which is reported as a single mistake. */
function isConfigMap(map: LocatedMap, report: Report): boolean {
  const kind = fieldOf(map, 'kind');
  if (kind?.kind !== 'scalar' || kind.text !== 'ConfigMap') return false;
  const data = fieldOf(map, 'data');
  const first = data?.kind === 'map' ? data.pairs[0]?.key : undefined;
  const name = first?.kind === 'scalar' ? `, here what ${quote(first.text)} holds` : '';
  const message = `this is a Kubernetes ConfigMap, not a rule file: take what is below data${name}`;
  report.error(kind.at, 'unknown-key', message);
  return true;
}

function fieldOf(map: LocatedMap, name: string): Located | undefined {
  return map.pairs.find(({ key }) => key.kind === 'scalar' && key.text === name)?.value;
}
