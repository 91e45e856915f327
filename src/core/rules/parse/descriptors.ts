import type { RuleDefinition } from '../definition';
import type { ChargeField } from './charge';
import type { LimitContext } from './limit';
import { checkLeased, refuseLeasedTogether, type LeasedField } from './leased';
import { readLimits } from './limits';
import { MAX_DEPTH, quote, type Located, type LocatedMap } from '../../../fields/located';
import { readMetadata } from './metadata';
import { readSecret, type SecretRules } from './secrets';
import {
  whyNotBudgeted,
  whyNotCountable,
  whyWithoutHashes,
  type StoreAbilities,
} from './store-abilities';
import { RuleFields } from './rule-fields';
import { checkSiblings, type Siblings } from './siblings';
import { belongsIn, namesOf } from './table/levels';
import type { RuleProblem } from '../../../fields/problem';
import { createReport, type Report } from '../../../fields/report';
import type { OverlayLevel, OverlaysMet } from '../overlays/find-overlays';
import { giveFields, type Overlaid } from '../overlays/give-fields';
import type { Overlay } from '../overlays/overlay';

/** The entries of one domain while its files are read. */
export interface DomainDraft extends LimitContext {
  readonly rules: RuleDefinition[];
  readonly top: Siblings;
  readonly secrets: SecretRules;
  /** The store that will count by the rules; undefined: one that can do everything. */
  readonly abilities: StoreAbilities | undefined;
  /** One for each file that has it. */
  readonly charges: ChargeField[];
  readonly leases: LeasedField[];
  /** The overlays of this domain; undefined: there is none. */
  readonly overlays: OverlayLevel | undefined;
  readonly overlaid: OverlayUse;
}

/** How the overlays were used in one set of rules. */
export interface OverlayUse {
  /** Those that met a rule. */
  readonly met: Set<Overlay>;
  /** Fields that rules were given, and that they could not take. */
  given: number;
  refused: number;
}

/** Adds all descriptors below a map to the domain. */
export function readDescriptors(fields: RuleFields<'file'>, draft: DomainDraft): void {
  const { top: siblings, overlays } = draft;
  readLevel(fields, { parent: -1, siblings, depth: 1, overlays }, draft);
}

interface RuleLevelPlace {
  readonly parent: number;
  readonly siblings: Siblings;
  /** Number of lists and maps around the entries of this level. */
  readonly depth: number;
  /** Those that may meet entries here or below; undefined: there is none. */
  readonly overlays: OverlayLevel | undefined;
}

function readLevel(
  above: RuleFields<'file'> | RuleFields<'descriptor'>,
  at: RuleLevelPlace,
  draft: DomainDraft,
): void {
  if (above.get('descriptors') !== undefined && at.depth >= MAX_DEPTH) {
    const message = `descriptors are nested deeper than ${String(MAX_DEPTH)} lists and maps`;
    above.error('descriptors', 'too-deep', message);
    return;
  }
  for (const written of above.mapsOf('descriptors')) {
    const { here = [], below } = meetOverlays(at.overlays, written);
    const { map, report, from } = overlay(written, here, above.report, draft);
    const fields = new RuleFields(map, 'descriptor', report);
    const { own, limits } = readFields(fields, draft);
    const rule = {
      parent: at.parent,
      ...own,
      ...readSecret(fields, own, draft.secrets),
      ...limits,
      place: {
        ...{ file: report.file, at: map.at, limitAt: nodeOfLimits(fields)?.at },
        ...(from.length > 0 && { overlaid: from }),
      },
    };
    warnOfRegularExpression(rule, fields);
    refuseEmpty(fields);
    refuseReservationKey(rule.key, draft.rules[at.parent], fields);
    checkSiblings(map, rule, at.siblings, report);
    const parent = draft.rules.push(rule) - 1;
    const siblings: Siblings = new Map();
    readLevel(fields, { parent, siblings, depth: at.depth + 2, overlays: below }, draft);
  }
}

/** What a rule says, and its limits, with what one says about the other. Mistakes are reported. */
function readFields(fields: RuleFields<'descriptor'>, draft: DomainDraft) {
  const own = readRule(fields);
  const limits = readLimits(fields, draft);
  refuseUncountable(fields, limits, draft.abilities);
  checkLeased(fields, limits, draft);
  return { own, limits };
}

function meetOverlays(level: OverlayLevel | undefined, map: LocatedMap): Partial<OverlaysMet> {
  if (level === undefined) return {};
  const [key, value] = [textOf(map, 'key'), textOf(map, 'value')];
  return level.meet(key, value === '' ? undefined : value);
}

function textOf({ pairs }: LocatedMap, name: string): string {
  const pair = pairs.findLast(({ key }) => key.kind === 'scalar' && key.text === name);
  return pair?.value.kind === 'scalar' ? pair.value.text : '';
}

/** The descriptor with the fields of the overlays that meet it. */
function overlay(
  map: LocatedMap,
  met: readonly Overlay[],
  report: Report,
  draft: DomainDraft,
): Pick<Overlaid, 'map' | 'report' | 'from'> {
  if (met.length === 0) return { map, report, from: [] };
  for (const one of met) draft.overlaid.met.add(one);
  const overlaid = giveFields(map, met, report, (tried) => tryOut(tried, report, draft));
  draft.overlaid.given += overlaid.from.reduce((sum, { names }) => sum + names.length, 0);
  draft.overlaid.refused += overlaid.refused;
  return overlaid;
}

/** The problems of a descriptor alone. What other entries and other files would say comes with it, so that it is never a mistake there. */
function tryOut(map: LocatedMap, { file, noun }: Report, draft: DomainDraft): RuleProblem[] {
  const problems: RuleProblem[] = [];
  const report = createReport(file, problems, noun);
  const fields = new RuleFields(map, 'descriptor', report);
  const leases: LeasedField[] = [];
  const names = { defined: new Set<string>(), replaced: [] };
  const { limits } = readFields(fields, { ...draft, names, leases });
  if (draft.charges[0]?.charge === 'together') refuseLeasedTogether(leases);
  for (const below of limits.budget?.reserve === undefined ? [] : fields.mapsOf('descriptors'))
    refuseReservations(textOf(below, 'key'), fields);
  return problems;
}

function nodeOfLimits(fields: RuleFields<'descriptor'>): Located | undefined {
  return fields.get('rate_limits') ?? fields.get('rate_limit');
}

/** Reports what the store cannot count. */
function refuseUncountable(
  fields: RuleFields<'descriptor'>,
  { limit, budget }: Pick<RuleDefinition, 'limit' | 'budget'>,
  abilities: StoreAbilities | undefined,
): void {
  if (limit === undefined || abilities === undefined) return;
  const isList = fields.get('rate_limits') !== undefined;
  const name = isList ? 'rate_limits' : 'rate_limit';
  const why =
    budget === undefined
      ? whyNotCountable(limit, abilities)
      : whyNotBudgeted(budget, abilities, isList);
  if (why !== undefined) fields.error(name, 'store-without-algorithms', why);
  for (const one of budget?.limits ?? [limit]) {
    const whyNoLimits = whyWithoutHashes(one, abilities);
    if (whyNoLimits !== undefined) fields.error(name, 'store-without-hashes', whyNoLimits);
  }
}

/** Maps of a descriptor whose fields may be indented one level too little. */
const HOLDERS = [
  ['rate_limit', 'empty-rate-limit'],
  ['reserve', 'empty-reserve'],
  ['block', 'empty-block'],
] as const;

/** Reports a limit or lease without effect because it is indented one level too little. */
function refuseEmpty(fields: RuleFields<'descriptor'>): void {
  for (const [holder, mistake] of HOLDERS) {
    if (fields.get(holder) === undefined || fields.has(holder)) continue;
    const beside = [...fields.misplaced].filter((name) => belongsIn(holder, name));
    if (beside.length === 0) continue;
    const message = `${holder} is empty: expected ${beside.join(', ')} indented below it, found beside it`;
    fields.error(holder, mistake, message);
  }
}

/** Refuses other keys below a rule with reservations, whose ids come there. */
function refuseReservationKey(
  key: string,
  above: RuleDefinition | undefined,
  fields: RuleFields<'descriptor'>,
): void {
  if (!isOfReservations(key) || above?.budget?.reserve === undefined) return;
  const message = `the key ${quote(key)} belongs to the reservations of the rule above; expected another key, or no reserve there`;
  fields.error('key', 'reservation-key', message);
}

/** Refuses reservations above such a key. */
function refuseReservations(key: string, fields: RuleFields<'descriptor'>): void {
  if (!isOfReservations(key)) return;
  const name = fields.isNamed('reserve') ? 'reserve' : 'rate_limit';
  const message = `the key ${quote(key)} below this rule belongs to its reservations; expected another key there, or no reservations`;
  fields.error(name, 'reservation-key', message);
}

function isOfReservations(key: string): boolean {
  return key === 'reserve' || key === 'settle';
}

function readRule(
  fields: RuleFields<'descriptor'>,
): Omit<RuleDefinition, 'parent' | 'limit' | 'budget' | 'place'> {
  const value = fields.read('value');
  const shareThreshold = fields.read('share_threshold');
  if (shareThreshold && value?.includes('*') === false) {
    const found = value === '' ? 'no value' : `the value ${quote(value)}`;
    const message = `share_threshold needs a value with * in it; found ${found}`;
    fields.error('share_threshold', 'share-threshold-without-star', message);
  }
  const rule = {
    key: readKey(fields),
    value: value === '' ? undefined : value,
    shadowMode: fields.read('shadow_mode'),
    quotaMode: fields.read('quota_mode'),
    detailedMetric: fields.read('detailed_metric'),
    valueToMetric: fields.read('value_to_metric'),
    shareThreshold,
    metadata: readMetadata(fields),
    onStoreError: fields.read('on_store_error'),
  };
  warnOfIdle(fields);
  return rule;
}

function readKey(fields: RuleFields<'descriptor'>): string {
  const key = fields.read('key');
  if (key?.includes('*') === true) {
    const message = `a * in a key is an ordinary character, not a wildcard: found the key ${quote(key)}`;
    fields.warning('key', 'star-in-key', message);
  }
  return key ?? '';
}

/** A flag that is off is not reported: generated files contain all of them. */
const NEED_A_LIMIT = namesOf('descriptor', ({ needs }) => needs === 'rate_limit');

const LIMITS = ['rate_limit', 'rate_limits'] as const;

/** Warns of fields without effect in a descriptor without a limit, or of the descriptor itself. */
function warnOfIdle(fields: RuleFields<'descriptor'>): void {
  if (LIMITS.some((name) => fields.isMisspelled(name) || fields.has(name))) return;
  const idle = NEED_A_LIMIT.filter((name) => fields.isSet(name) || fields.isNamed(name));
  for (const name of idle)
    fields.warning(name, 'idle-key', `${name} has no effect in a descriptor without rate_limit`);
  const key = fields.get('key');
  if (idle.length === 0 && key?.kind === 'scalar' && isWithoutEffect(fields)) {
    const message = `no limit here or below: requests that match the key ${quote(key.text)} are not limited`;
    fields.report.warning(fields.map.at, 'no-limit', message);
  }
}

/** An entry for any value matches what no other entry does. One with a value may exempt it; `hash_value` is for all entries of a key. */
const GIVE_EFFECT = ['value', 'value_hash', 'hash_value', 'descriptors'] as const;

function isWithoutEffect(fields: RuleFields<'descriptor'>): boolean {
  if (fields.misplaced.size > 0) return false;
  return GIVE_EFFECT.every((name) => !fields.isSet(name) && !fields.isMisspelled(name));
}

/** Regular expressions that are improbable as literal values: an anchor, `.*` after a slash, `[a-z]`, an escaped dot or class. */
const REGULAR_EXPRESSION = /^\^|\$$|\/\.[*+]|\.\*\$?$|\[\^?\w-\w|\\(?:\.|[dws][+*])/;

/** Warns of a value that was meant as a pattern of another language. */
function warnOfRegularExpression(
  { value, secret }: Pick<RuleDefinition, 'value' | 'secret'>,
  fields: RuleFields<'descriptor'>,
): void {
  if (value === undefined || !REGULAR_EXPRESSION.test(value)) return;
  const name = secret === undefined ? `value ${quote(value)}` : 'this value';
  const wildcard = value.replace(/^\^|\$$/g, '').replaceAll(/\.[*+]/g, '*');
  const isPlain = secret === undefined && /^[^\\[\](){}|+?^$]+$/.test(wildcard);
  const hint = isPlain ? `; did you mean ${quote(wildcard)}?` : '';
  const message = `${name} is plain text, not a regular expression: only * matches other characters${hint}`;
  fields.warning('value', 'regular-expression', message);
}
