import {
  ON_STORE_ERROR,
  type LimitDefinition,
  type OnStoreError,
  type RuleDefinition,
} from '../definition';
import { readFields, type Fields } from './fields';
import { readLimit, refuseEmptyLimit } from './limit';
import { MAX_DEPTH, quote, type Located, type LocatedMap } from './located';
import { readMetadata } from './metadata';
import type { LimitNames } from './replaces';
import type { Report } from './report';
import { warnOfIdle, warnOfRegularExpression } from './remarks';
import { readSecret, type SecretRules } from './secrets';
import { checkSiblings, type Siblings } from './siblings';
import { whyNotCountable, whyWithoutHashes, type StoreAbilities } from './store-abilities';
import { readFlag, readMaps, readText } from './values';

/** The entries of one domain while its files are read. */
export interface DomainDraft {
  readonly rules: RuleDefinition[];
  readonly top: Siblings;
  readonly names: LimitNames;
  readonly secrets: SecretRules;
  /** What counts by the rules; undefined: whatever they need. */
  readonly abilities: StoreAbilities | undefined;
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
    const rule = {
      parent: at.parent,
      ...own,
      ...readSecret(map, fields, own, draft.secrets, report),
      limit: readCountable(fields.get('rate_limit'), draft, report),
      place: { file: report.file, at: map.at, limitAt: fields.get('rate_limit')?.at },
    };
    warnOfRegularExpression(rule, fields.get('value'), report);
    refuseEmptyLimit(fields, report);
    checkSiblings(map, rule, at.siblings, report);
    const parent = draft.rules.push(rule) - 1;
    const below = { parent, siblings: new Map(), depth: at.depth + 2 };
    readLevel(fields.get('descriptors'), below, draft, report);
  }
}

/** A limit that the store can count by; one that it cannot is reported, once. */
function readCountable(
  node: Located | undefined,
  { names, abilities }: DomainDraft,
  report: Report,
): LimitDefinition | undefined {
  const limit = readLimit(node, names, report);
  if (node === undefined || limit === undefined || abilities === undefined) return limit;
  const why = whyNotCountable(limit, abilities);
  if (why !== undefined) report.error(node.at, 'store-without-algorithms', why);
  const whyNoLimits = whyWithoutHashes(limit, abilities);
  if (whyNoLimits !== undefined) report.error(node.at, 'store-without-hashes', whyNoLimits);
  return limit;
}

function readRule(
  map: LocatedMap,
  fields: Fields<'descriptor'>,
  report: Report,
): Omit<RuleDefinition, 'parent' | 'limit' | 'place'> {
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
    const message = 'a descriptor has no key: expected a text that is not empty';
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
