import { ON_STORE_ERROR, type OnStoreError, type RuleDefinition } from '../definition';
import type { ChargeSaid } from './charge';
import { readFields, type Fields } from './fields';
import { refuseEmpty } from './limit';
import { checkLeased, type LeasedSaid } from './leased';
import { readLimits } from './limits';
import { MAX_DEPTH, quote, type Located, type LocatedMap } from './located';
import { readMetadata } from './metadata';
import type { LimitNames } from './replaces';
import type { Report } from './report';
import { warnOfIdle, warnOfRegularExpression } from './remarks';
import { readSecret, type SecretRules } from './secrets';
import { checkSiblings, type Siblings } from './siblings';
import {
  whyNotBudgeted,
  whyNotCountable,
  whyWithoutHashes,
  type StoreAbilities,
} from './store-abilities';
import { readFlag, readMaps, readText } from './values';

/** The entries of one domain while its files are read. */
export interface DomainDraft {
  readonly rules: RuleDefinition[];
  readonly top: Siblings;
  readonly names: LimitNames;
  readonly secrets: SecretRules;
  /** What counts by the rules; undefined: whatever they need. */
  readonly abilities: StoreAbilities | undefined;
  /** One for each file that says it. */
  readonly charges: ChargeSaid[];
  readonly leases: LeasedSaid[];
}

/** Adds the entries of a list of descriptors, and all below them, to the domain. */
export function readDescriptors(
  list: Located | undefined,
  draft: DomainDraft,
  report: Report,
): void {
  readLevel(list, { parent: -1, siblings: draft.top, depth: 1 }, draft, report);
}

interface RuleLevelPlace {
  readonly parent: number;
  readonly siblings: Siblings;
  /** Lists and maps around the entries of this level. */
  readonly depth: number;
}

function readLevel(
  list: Located | undefined,
  at: RuleLevelPlace,
  draft: DomainDraft,
  report: Report,
): void {
  if (list !== undefined && at.depth >= MAX_DEPTH) {
    const message = `descriptors are nested deeper than ${String(MAX_DEPTH)} lists and maps`;
    report.error(list.at, 'too-deep', message);
    return;
  }
  for (const map of readMaps(list, 'descriptors', report)) {
    const fields = readFields(map, 'descriptor', report);
    const own = readRule(map, fields, report);
    const limits = readLimits(fields, draft.names, report);
    refuseUncountable(fields, limits, draft.abilities, report);
    checkLeased(fields, limits, draft, report);
    const rule = {
      parent: at.parent,
      ...own,
      ...readSecret(map, fields, own, draft.secrets, report),
      ...limits,
      place: { file: report.file, at: map.at, limitAt: nodeOfLimits(fields)?.at },
    };
    warnOfRegularExpression(rule, fields.get('value'), report);
    refuseEmpty(fields, report);
    refuseReservationKey(rule.key, draft.rules[at.parent], fields, report);
    checkSiblings(map, rule, at.siblings, report);
    const parent = draft.rules.push(rule) - 1;
    const below = { parent, siblings: new Map(), depth: at.depth + 2 };
    readLevel(fields.get('descriptors'), below, draft, report);
  }
}

function nodeOfLimits(fields: Fields<'descriptor'>): Located | undefined {
  return fields.get('rate_limits') ?? fields.get('rate_limit');
}

/** What the store cannot count by is reported. */
function refuseUncountable(
  fields: Fields<'descriptor'>,
  { limit, budget }: Pick<RuleDefinition, 'limit' | 'budget'>,
  abilities: StoreAbilities | undefined,
  report: Report,
): void {
  const node = nodeOfLimits(fields);
  if (node === undefined || limit === undefined || abilities === undefined) return;
  const isList = fields.get('rate_limits') !== undefined;
  const why =
    budget === undefined
      ? whyNotCountable(limit, abilities)
      : whyNotBudgeted(budget, abilities, isList);
  if (why !== undefined) report.error(node.at, 'store-without-algorithms', why);
  for (const one of budget?.limits ?? [limit]) {
    const whyNoLimits = whyWithoutHashes(one, abilities);
    if (whyNoLimits !== undefined) report.error(node.at, 'store-without-hashes', whyNoLimits);
  }
}

/** Below a rule that takes reservations, what their ids follow. */
function refuseReservationKey(
  key: string,
  above: RuleDefinition | undefined,
  fields: Fields<'descriptor'>,
  report: Report,
): void {
  const node = fields.get('key');
  if (node === undefined || (key !== 'reserve' && key !== 'settle')) return;
  if (above?.budget?.reserve === undefined) return;
  const message = `the key ${quote(key)} belongs to the reservations of the rule above; expected another key, or no reserve there`;
  report.error(node.at, 'reservation-key', message);
}

function readRule(
  map: LocatedMap,
  fields: Fields<'descriptor'>,
  report: Report,
): Omit<RuleDefinition, 'parent' | 'limit' | 'budget' | 'place'> {
  const flag = (name: Parameters<typeof fields.get>[0]) => readFlag(fields.get(name), name, report);
  const value = readText(fields.get('value'), 'value', report);
  const shareThreshold = flag('share_threshold');
  if (shareThreshold && value?.includes('*') === false) {
    const found = value === '' ? 'no value' : `the value ${quote(value)}`;
    const message = `share_threshold needs a value with * in it; found ${found}`;
    report.error(
      (fields.get('share_threshold') ?? map).at,
      'share-threshold-without-star',
      message,
    );
  }
  const rule = {
    key: readKey(map, fields, report),
    value: value === '' ? undefined : value,
    shadowMode: flag('shadow_mode'),
    quotaMode: flag('quota_mode'),
    detailedMetric: flag('detailed_metric'),
    valueToMetric: flag('value_to_metric'),
    shareThreshold,
    metadata: readMetadata(fields.get('metadata'), report),
    onStoreError: readOnStoreError(fields.get('on_store_error'), report),
  };
  warnOfIdle(map, fields, report);
  return rule;
}

function readKey(map: LocatedMap, fields: Fields<'descriptor'>, report: Report): string {
  const node = fields.get('key');
  const key = readText(node, 'key', report);
  if (key === '' && !fields.isMisspelled('key')) {
    const message = 'a descriptor has no key: expected a non-empty string';
    report.error((node ?? map).at, 'empty-key', message);
  }
  if (key?.includes('*') === true) {
    const message = `a * in a key is an ordinary character, not a wildcard: found the key ${quote(key)}`;
    report.warning((node ?? map).at, 'star-in-key', message);
  }
  return key ?? '';
}

function readOnStoreError(node: Located | undefined, report: Report): OnStoreError | undefined {
  const text = readText(node, 'on_store_error', report);
  if (text === undefined || text === '') return undefined;
  const policy = ON_STORE_ERROR.find((one) => one === text);
  if (policy === undefined && node !== undefined) {
    const message = `on_store_error ${quote(text)} is not one of ${ON_STORE_ERROR.join(', ')}`;
    report.error(node.at, 'bad-on-store-error', message);
  }
  return policy;
}
