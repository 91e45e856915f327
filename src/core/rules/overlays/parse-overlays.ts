import { describe, type Located, type LocatedMap } from '../../../fields/located';
import { Fields } from '../../../fields/fields';
import { byPlace, isError, type RuleProblem } from '../../../fields/problem';
import { createReport, type Report } from '../../../fields/report';
import { isSet, present } from '../../../fields/scalars';
import type { RuleSource } from '../parse/parse-rule-files';
import { RuleFields } from '../parse/rule-fields';
import { namesOf, type Level } from '../parse/table/levels';
import { findConflicts } from './conflicts';
import type { Overlay, OverlayField, PathStep } from './overlay';

export interface ParsedOverlays {
  /** None where there is a mistake. */
  readonly overlays: readonly Overlay[];
  readonly problems: readonly RuleProblem[];
}

const MOST_STEPS = 64;
/** Characters of a pattern. */
const MOST_LENGTH = 1_024;

type Holder = OverlayField['holder'];
const HOLDERS: readonly Holder[] = ['rate_limit', 'descriptor'];

/** What makes a rule the one that it is, and what is for all rules of a key. */
const IDENTITY: Readonly<Record<Holder, readonly string[]>> = {
  rate_limit: ['name', 'replaces'],
  descriptor: [
    'key',
    'value',
    'value_hash',
    'hash_value',
    'rate_limit',
    'rate_limits',
    'descriptors',
  ],
};

/** The amount of a limit: it is replaced or it stays. */
const AMOUNT = ['unit', 'requests_per_unit', 'unit_multiplier'];

/** Fields that let more through, with the value that does; undefined: any that is not `false`. */
const LOOSENING: Readonly<Record<string, string | undefined>> = {
  unlimited: undefined,
  shadow_mode: undefined,
  quota_mode: undefined,
  on_store_error: 'allow',
};

/** Levels of the maps that a field holds. */
const NESTED: Readonly<Record<string, Level>> = {
  block: 'block',
  reserve: 'reserve',
  limits_from: 'limits_from',
};

/**
 * Checks the files of RULE_OVERLAYS, in the order of their names, and lists every problem by file, line and column (docs/rules/overlays.md).
 * Steps of one millisecond at most: overlays are compared with one another.
 */
export function* parseOverlays(files: readonly RuleSource[]): Generator<void, ParsedOverlays> {
  const overlays: Overlay[] = [];
  const problems: RuleProblem[] = [];
  for (const { file, root, problems: read } of files.toSorted((a, b) =>
    a.file < b.file ? -1 : 1,
  )) {
    const ofFile = [...read];
    if (root !== undefined || !read.some(isError))
      overlays.push(...readFile(root, createReport(file, ofFile)));
    problems.push(...ofFile.sort(byPlace));
    yield;
  }
  problems.push(...(yield* findConflicts(overlays)));
  return { overlays: problems.some(isError) ? [] : overlays, problems };
}

const FILE = { known: ['overlays'], where: 'at the top level of a file of overlays' } as const;
const OVERLAY = {
  known: ['domain', 'path', 'rate_limit', 'descriptor', 'replace', 'loosen'],
  where: 'in an overlay',
} as const;
const STEP = { known: ['key', 'value'], where: 'in a step of path' } as const;

function readFile(root: Located | undefined, report: Report): readonly Overlay[] {
  const node = present(root);
  if (node === undefined) return [];
  if (node.kind !== 'map') {
    report.error(
      node.at,
      'wrong-type',
      `the file is ${describe(node)}: expected a map with overlays`,
    );
    return [];
  }
  return new Fields(node, FILE, report)
    .mapsOf('overlays')
    .flatMap((map) => readOverlay(map, report) ?? []);
}

function readOverlay(map: LocatedMap, report: Report): Overlay | undefined {
  const fields = new Fields(map, OVERLAY, report);
  const domain = fields.text('domain');
  if (domain === '' && !fields.isMisspelled('domain'))
    report.error(
      map.at,
      'bad-overlay',
      'an overlay has no domain: expected domain: with a name, in which * matches any characters',
    );
  else if (domain !== undefined) refuseLong(fields, 'domain', domain);
  const path = readPath(fields);
  const flags = { replace: fields.flag('replace'), loosen: fields.flag('loosen') };
  const given = HOLDERS.flatMap((holder) => readGiven(fields, holder, flags));
  if (
    given.length === 0 &&
    !HOLDERS.some((holder) => fields.has(holder) || fields.isMisspelled(holder))
  )
    report.error(
      map.at,
      'bad-overlay',
      'an overlay gives nothing: expected rate_limit or descriptor with fields',
    );
  if (domain === undefined || domain === '' || path === undefined) return undefined;
  return { file: report.file, at: map.at, domain, path, isReplacing: flags.replace, fields: given };
}

function readPath(fields: Fields<'path'>): readonly PathStep[] | undefined {
  const node = fields.given('path');
  const expected = `expected a list of 1 to ${String(MOST_STEPS)} steps, each "*" or a map with key and value`;
  if (node === undefined && fields.isMisspelled('path')) return undefined;
  if (node?.kind !== 'list' || node.items.length === 0 || node.items.length > MOST_STEPS) {
    const found =
      node === undefined
        ? 'is missing'
        : node.kind === 'list'
          ? `has ${String(node.items.length)} steps`
          : `is ${describe(node)}`;
    fields.error('path', 'bad-overlay', `path ${found}: ${expected}`);
    return undefined;
  }
  const steps = node.items.map((item) => readStep(item, fields.report));
  return steps.every((step) => step !== undefined) ? steps : undefined;
}

function readStep(node: Located, report: Report): PathStep | undefined {
  if (node.kind === 'scalar' && node.text === '*') return { key: undefined, value: undefined };
  if (node.kind !== 'map') {
    const message = `a step of path is ${describe(node)}: expected "*", or a map with key and value`;
    report.error(node.at, 'bad-overlay', message);
    return undefined;
  }
  return readEntry(new Fields(node, STEP, report));
}

function readEntry(fields: Fields<'key' | 'value'>): PathStep | undefined {
  const [key, value] = [fields.text('key'), fields.text('value')];
  const message = 'a step of path has no key: expected a key, or "*" for any';
  if (key === '' && !fields.isMisspelled('key'))
    fields.report.error(fields.map.at, 'bad-overlay', message);
  if (key === undefined || key === '' || value === undefined) return undefined;
  refuseLong(fields, 'key', key);
  refuseLong(fields, 'value', value);
  return { key: key === '*' ? undefined : key, value: value === '' ? undefined : value };
}

/** Patterns are compared with one another, character by character. */
function refuseLong<Name extends string>(fields: Fields<Name>, name: Name, text: string): void {
  const [found, most] = [text.length, MOST_LENGTH].map(String);
  const message = `${name} has ${String(found)} characters: expected at most ${String(most)}`;
  if (text.length > MOST_LENGTH) fields.error(name, 'bad-overlay', message);
}

interface Flags {
  readonly replace: boolean;
  readonly loosen: boolean;
}

/** The fields below `rate_limit` or `descriptor`. Mistakes are reported. */
function readGiven(overlay: Fields<Holder>, holder: Holder, flags: Flags): readonly OverlayField[] {
  const map = overlay.mapOf(holder);
  if (map === undefined) return [];
  const fields = new RuleFields(map, holder, strict(overlay.report));
  const names = namesOf(holder, () => true).filter((name) => fields.get(name) !== undefined);
  if (map.pairs.length === 0)
    overlay.error(holder, 'bad-overlay', `${holder} is empty: expected fields that rules get`);
  return names.flatMap((name) => {
    const why = whyNotGiven(holder, name, fields.get(name) as Located, flags);
    if (why !== undefined) fields.error(name, 'bad-overlay', why);
    else checkValue(fields, name);
    return [{ holder, name, node: fields.get(name) as Located }];
  });
}

/** In a rule a field of another map is a remark: here it is all that someone wanted. */
function strict(report: Report): Report {
  return {
    ...report,
    warning(at, problem, message) {
      if (problem === 'misplaced-key') report.error(at, 'bad-overlay', message);
      else report.warning(at, problem, message);
    },
  };
}

function whyNotGiven(
  holder: Holder,
  name: string,
  node: Located,
  { replace, loosen }: Flags,
): string | undefined {
  if (IDENTITY[holder].includes(name)) return `an overlay cannot give ${name}`;
  if (holder === 'rate_limit' && AMOUNT.includes(name) && !replace)
    return `${name} replaces the amount of a limit: expected replace: true beside rate_limit`;
  const loosening = loosen ? undefined : looseningOf(name, node);
  return (
    loosening &&
    `${loosening} lets more through than the rule: expected loosen: true beside ${holder}`
  );
}

/** The field with its value, where it lets more through. */
function looseningOf(name: string, node: Located): string | undefined {
  if (!Object.hasOwn(LOOSENING, name)) return undefined;
  const value = LOOSENING[name];
  const isLoose = value === undefined ? isSet(node) : node.kind === 'scalar' && node.text === value;
  return isLoose ? `${name}: ${value ?? 'true'}` : undefined;
}

/** Reads a value alone, as it would be in a rule. */
function checkValue<L extends Holder>(fields: RuleFields<L>, name: string): void {
  const nested = NESTED[name];
  const map = nested && fields.mapOf(name as never);
  if (nested === undefined) fields.read(name as never);
  else if (map !== undefined) {
    const inner = new RuleFields(map, nested, fields.report);
    for (const one of namesOf(nested, () => true)) inner.read(one);
  }
}
