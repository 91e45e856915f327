import type { Entry } from '../model';
import type { RulePlace } from '../rules/definition';
import { overlaidText } from '../rules/overlays/overlay';
import type { Place } from '../../fields/problem';
import type { DomainRules, RuleLevel, RuleNode, Rules } from '../rules/rules';
import { redactedEntries, type Secrets } from '../rules/secrets';
import { findOrder, findWayBack, commandIn, withoutQueries } from './alternatives';
import {
  candidatesOf,
  keysOf,
  rulesOfKey,
  valuesOf,
  type Candidate,
  listed,
  MAX_NAMES,
  suggest,
} from './candidates';
import type { LevelExplanation, LimitExplanation, NoLimit, PathExplanation } from './explanation';

/** Rules listed as passed over, per level. */
const MAX_PASSED_OVER = 20;

type Places = Rules['places'];

/** The path of a descriptor through the rules of its domain, and why it ends without a limit. */
export function* explainPath(
  { top, secrets }: DomainRules,
  entries: readonly Entry[],
  places: Places,
): Generator<undefined, PathExplanation, void> {
  const { taken, path, stop } = yield* walk(top, entries, entryTexts(secrets, entries), places);
  const sent = sentOtherwise(top, secrets, entries);
  if (stop === undefined) return { path, ...sent };
  const order = yield* findOrder(top, entries);
  const wayBack = yield* wayBackOf(top, entries, taken, places);
  return {
    path,
    noLimit: wayBack ?? stop,
    ...(order && {
      order: `the same entries in another order would match: ${entryTexts(secrets, order).join(', ')}`,
    }),
    ...sent,
  };
}

/** Entries that are probably not what the proxy was meant to send. */
function sentOtherwise(
  top: RuleLevel,
  secrets: Secrets | undefined,
  entries: readonly Entry[],
): Pick<PathExplanation, 'sent'> {
  const command = shownEntries(secrets, entries)
    .map(commandIn)
    .find((found) => found !== undefined);
  const cut = withoutQueries(top, entries);
  const texts = [
    ...(cut === undefined
      ? []
      : [
          `without the query of its path it would match: ${entryTexts(secrets, cut).join(', ')}; Envoy sends :path with the query`,
        ]),
    ...(command === undefined
      ? []
      : [`the proxy has sent ${JSON.stringify(command)} as it is written, not its value`]),
  ];
  return texts.length === 0 ? {} : { sent: texts.join('; ') };
}

export function* explainUnknownDomain(
  domain: string,
  domains: Iterable<string>,
): Generator<undefined, NoLimit, void> {
  const { names, remark } = yield* suggest(domain, domains);
  const hint = `no rules for the domain ${JSON.stringify(domain)}; there are ${listed(names)}${remark}`;
  return { reason: 'unknown_domain', hint, names };
}

/** `shop.yaml:8:5`; for a management server the resource and the path in it. */
export function placeText(file: string, at: Place): string {
  if ('line' in at) return `${file}:${String(at.line)}:${String(at.column)}`;
  return at.path === '' ? file : `${file}: ${at.path}`;
}

export function placeOf(node: RuleNode, places: Places): { readonly at?: string } {
  const place = places.get(node);
  return place === undefined ? {} : { at: placeText(place.file, place.at) };
}

/** Where the limit of a rule is written, and what the rule has from overlays. */
export function placeOfLimit(
  place: RulePlace | undefined,
): Pick<LimitExplanation, 'at' | 'overlays'> {
  return {
    ...(place?.limitAt !== undefined && { at: placeText(place.file, place.limitAt) }),
    ...overlaysOf(place),
  };
}

export function overlaysOf(place: RulePlace | undefined): Pick<LimitExplanation, 'overlays'> {
  return place?.overlaid === undefined ? {} : { overlays: place.overlaid.map(overlaidText) };
}

/** `user=ann` for each entry; a secret value is shown by its token. */
export function entryTexts(
  secrets: Secrets | undefined,
  entries: readonly Entry[],
): readonly string[] {
  return shownEntries(secrets, entries).map(({ key, value }) => `${key}=${value}`);
}

function shownEntries(secrets: Secrets | undefined, entries: readonly Entry[]): readonly Entry[] {
  return secrets === undefined ? entries : redactedEntries(secrets, entries);
}

/** `stop` is undefined when a limit was matched. */
function* walk(
  top: RuleLevel,
  entries: readonly Entry[],
  texts: readonly string[],
  places: Places,
) {
  const taken: Candidate[] = [];
  const path: LevelExplanation[] = [];
  let level: RuleLevel | undefined = top;
  for (const [at, entry] of entries.entries()) {
    if (level === undefined) return { taken, path, stop: tooDeep(at, entries.length) };
    const [first, ...others]: readonly Candidate[] = candidatesOf(level, entry);
    if (first === undefined) return { taken, path, stop: yield* noEntry(level, entry, at + 1) };
    taken.push(first);
    path.push(explainLevel(texts[at] as string, first, others, places));
    level = first.node.children;
    yield;
  }
  const last = taken.at(-1)?.node;
  if (last?.limit !== undefined) return { taken, path, stop: undefined };
  return { taken, path, stop: stopAtEnd(level, entries.length) };
}

function explainLevel(
  entry: string,
  { node, matched, rule }: Candidate,
  others: readonly Candidate[],
  places: Places,
): LevelExplanation {
  const why = (other: Candidate): string => {
    if (matched === 'value') return 'a rule with exactly this value comes first';
    return other.matched === 'wildcard'
      ? 'a rule with a wildcard comes before it in the file'
      : 'a rule with a wildcard comes first';
  };
  const passedOver = others
    .slice(0, MAX_PASSED_OVER)
    .map((other) => ({ rule: other.rule, ...placeOf(other.node, places), why: why(other) }));
  return {
    entry,
    matched,
    rule,
    ...placeOf(node, places),
    ...(passedOver.length > 0 && { passedOver }),
  };
}

function stopAtEnd(below: RuleLevel | undefined, level: number): NoLimit {
  const keys = below === undefined ? [] : firstOf(keysOf(below), MAX_NAMES);
  if (keys.length === 0) {
    const hint = `the rule of level ${String(level)} has no rate_limit`;
    return { reason: 'rule_has_no_limit', level, hint };
  }
  const hint = `the limits are below level ${String(level)}: the next entry must have one of the keys ${listed(keys)}`;
  return { reason: 'too_shallow', level, hint, names: keys };
}

function firstOf(names: Iterable<string>, most: number): readonly string[] {
  const first: string[] = [];
  for (const name of names) {
    if (first.length === most) break;
    first.push(name);
  }
  return first;
}

function tooDeep(level: number, entries: number): NoLimit {
  const hint = `the rule ends at level ${String(level)}, but the descriptor has ${String(entries)} entries: leave the others out or add rules below`;
  return { reason: 'too_deep', level, hint };
}

function* noEntry(
  level: RuleLevel,
  { key, value }: Entry,
  number: number,
): Generator<undefined, NoLimit, void> {
  const rules = rulesOfKey(level, key);
  const place = `level ${String(number)}`;
  if (rules === undefined) {
    const { names, remark } = yield* suggest(key, keysOf(level));
    const hint = `${place} has no key ${JSON.stringify(key)}; it has ${listed(names)}${remark}`;
    return { reason: 'no_entry_for_key', level: number, hint, names };
  }
  const { names, remark } = yield* suggest(value, valuesOf(rules));
  const hint = `${place} has no value of ${JSON.stringify(key)} that matches; it has ${listed(names)}${remark}`;
  return { reason: 'no_entry_for_value', level: number, hint, names };
}

/** Where the more specific entry was taken, although a less specific one would have matched a limit. */
function* wayBackOf(
  top: RuleLevel,
  entries: readonly Entry[],
  taken: readonly Candidate[],
  places: Places,
): Generator<undefined, NoLimit | undefined, void> {
  const way = yield* findWayBack(top, entries);
  const at = way?.findIndex(({ node }, index) => node !== taken[index]?.node) ?? -1;
  const [specific, last] = [taken[at], way?.at(-1)];
  if (way === undefined || specific === undefined || last === undefined) return undefined;
  const level = at + 1;
  const rules = way.map(({ rule }) => rule).join(' > ');
  const { at: place } = placeOf(last.node, places);
  const where = place === undefined ? '' : ` at ${place}`;
  const hint = `${specific.rule} was taken at level ${String(level)} and leads to no limit; ${rules}${where} would have matched`;
  return { reason: 'no_backtracking', level, hint };
}
