import type { Located, LocatedMap, LocatedPair } from '../../../fields/located';
import { isError, type Place, type RuleProblem } from '../../../fields/problem';
import type { Report } from '../../../fields/report';
import { isSet, present } from '../../../fields/scalars';
import { namesOf } from '../parse/table/levels';
import { overlayText, type OverlaidFields, type Overlay, type OverlayField } from './overlay';

/** A descriptor with the fields of overlays. */
export interface Overlaid {
  readonly map: LocatedMap;
  /** For what is read from it: remarks about a field of an overlay stand at the rule. */
  readonly report: Report;
  /** Empty where the rule has all of them itself, or can take none. */
  readonly from: readonly OverlaidFields[];
  /** Fields that it cannot take, which are reported. */
  readonly refused: number;
}

/** A field that one rule gets. */
interface Gift {
  readonly overlay: Overlay;
  readonly field: OverlayField;
}

/**
 * Gives a descriptor the fields of the overlays that match it, but those that it has and those that it cannot take
 * (docs/rules/overlays.md). The nodes of the map are not changed.
 */
export function giveFields(
  map: LocatedMap,
  met: readonly Overlay[],
  report: Report,
  tryOut: TryOut,
): Overlaid {
  const wanted = firstOfEach(met.flatMap((overlay) => giftsOf(overlay, map)));
  // A rule with a mistake of its own is refused with it.
  const isGood = wanted.length > 0 && !tryOut(map).some(isError);
  const gifts = isGood ? takeable(map, wanted, report, tryOut) : [];
  const refused = wanted.length - gifts.length;
  if (gifts.length === 0) return { map, report, from: [], refused };
  const overlaid = withGifts(map, gifts);
  return { map: overlaid, report: atRule(map, gifts, report), from: summaryOf(gifts), refused };
}

/** Reads a map as a rule, in vain; its problems. */
type TryOut = (map: LocatedMap) => readonly RuleProblem[];

/** Those that the rule can take. The others are reported. */
function takeable(
  map: LocatedMap,
  wanted: readonly Gift[],
  report: Report,
  tryOut: TryOut,
): readonly Gift[] {
  let gifts = wanted;
  const refuse = (gift: Gift, why: string): void => {
    const { overlay, field } = gift;
    const message = `this rule cannot take ${field.name} from the overlay at ${overlayText(overlay)}, and goes without it: ${why}`;
    report.warning(map.at, 'overlay-refused', message);
    gifts = gifts.filter((one) => one !== gift);
  };
  if (fieldOf(map, 'rate_limits') !== undefined)
    for (const gift of wanted) if (gift.field.holder === 'rate_limit') refuse(gift, IN_A_LIST);
  for (;;) {
    const mistakes = tryOut(withGifts(map, gifts)).filter(isError);
    const [first] = mistakes;
    if (first === undefined) return gifts;
    const blamed = gifts.filter(({ field }) => mistakes.some(({ at }) => isIn(field.node, at)));
    const refused = blamed.length > 0 ? blamed : whoMakes(first, map, gifts, tryOut);
    for (const gift of refused) refuse(gift, (reasonOf(gift, mistakes) ?? first).message);
  }
}

const IN_A_LIST = 'an overlay does not reach the entries of rate_limits';

/** The field without which there would not be this mistake at a field of the rule; all of them where none is alone to blame. */
function whoMakes(
  { class: name, message }: RuleProblem,
  map: LocatedMap,
  gifts: readonly Gift[],
  tryOut: TryOut,
): readonly Gift[] {
  const one = gifts.find((gift) => {
    const others = gifts.filter((other) => other !== gift);
    const left = tryOut(withGifts(map, others));
    return !left.some((problem) => problem.class === name && problem.message === message);
  });
  return one === undefined ? gifts : [one];
}

/** Several overlays may give the same: one is enough. */
function firstOfEach(gifts: readonly Gift[]): readonly Gift[] {
  const first = new Map<string, Gift>();
  for (const gift of gifts) {
    const name = `${gift.field.holder}.${gift.field.name}`;
    if (!first.has(name)) first.set(name, gift);
  }
  return [...first.values()];
}

/** What the descriptor does not have, or what replaces what it has. Fields of a limit need one: an overlay makes no limits. */
function giftsOf(overlay: Overlay, map: LocatedMap): readonly Gift[] {
  const isLimited = LIMITS.some((name) => present(fieldOf(map, name)) !== undefined);
  return overlay.fields
    .filter(({ holder, name }) => {
      if (!isLimited && (holder === 'rate_limit' || NEED_A_LIMIT.includes(name))) return false;
      const at = holder === 'descriptor' ? map : limitOf(map);
      return at === undefined || overlay.isReplacing || !has(at, name);
    })
    .map((field) => ({ overlay, field }));
}

const LIMITS = ['rate_limit', 'rate_limits'];
const NEED_A_LIMIT: readonly string[] = namesOf(
  'descriptor',
  ({ needs }) => needs === 'rate_limit',
);

function limitOf(map: LocatedMap): LocatedMap | undefined {
  const node = fieldOf(map, 'rate_limit');
  return node?.kind === 'map' ? node : undefined;
}

function fieldOf(map: LocatedMap, name: string): Located | undefined {
  return map.pairs.findLast(({ key }) => key.kind === 'scalar' && key.text === name)?.value;
}

/** `reserve` has a meaning even with nothing in it. */
function has(map: LocatedMap, name: string): boolean {
  const node = fieldOf(map, name);
  return name === 'reserve' ? node !== undefined : present(node) !== undefined;
}

function withGifts(map: LocatedMap, gifts: readonly Gift[]): LocatedMap {
  const ofLimit = gifts.filter(({ field }) => field.holder === 'rate_limit');
  const limit = limitOf(map);
  const pairs = withPairs(
    map,
    gifts.filter(({ field }) => field.holder === 'descriptor'),
  ).pairs;
  if (limit === undefined || ofLimit.length === 0) return { ...map, pairs };
  const merged = withPairs(withoutAmount(limit, ofLimit), ofLimit);
  return {
    ...map,
    pairs: pairs.map((pair) => (pair.value === limit ? { ...pair, value: merged } : pair)),
  };
}

/** What is left of a limit that an overlay lifts: its name, and what it replaces. */
const BESIDE_UNLIMITED = ['name', 'replaces'];

function withoutAmount(limit: LocatedMap, gifts: readonly Gift[]): LocatedMap {
  const isLifted = gifts.some(
    ({ overlay, field }) => overlay.isReplacing && field.name === 'unlimited' && isSet(field.node),
  );
  if (!isLifted) return limit;
  return { ...limit, pairs: limit.pairs.filter((pair) => BESIDE_UNLIMITED.includes(nameOf(pair))) };
}

function withPairs(map: LocatedMap, gifts: readonly Gift[]): LocatedMap {
  if (gifts.length === 0) return map;
  const given = new Map(gifts.map(({ field }) => [field.name, field.node]));
  const kept = map.pairs.filter((pair) => !given.has(nameOf(pair)));
  const added = [...given].map(([name, value]): LocatedPair => {
    return { key: { kind: 'scalar', at: value.at, text: name, quoted: true }, value };
  });
  return { ...map, pairs: [...kept, ...added] };
}

function nameOf({ key }: LocatedPair): string {
  return key.kind === 'scalar' ? key.text : '';
}

/** Whether a problem is at this node or within it. */
function isIn(node: Located, at: Place): boolean {
  if (node.at === at) return true;
  if (node.kind === 'list') return node.items.some((item) => isIn(item, at));
  if (node.kind === 'scalar') return false;
  return node.pairs.some(({ key, value }) => isIn(key, at) || isIn(value, at));
}

function reasonOf({ field }: Gift, mistakes: readonly RuleProblem[]): RuleProblem | undefined {
  return mistakes.find(({ at }) => isIn(field.node, at));
}

/** Remarks about fields of overlays, at the rule that has them. */
function atRule(map: LocatedMap, gifts: readonly Gift[], report: Report): Report {
  return {
    ...report,
    warning(at, problem, message) {
      const gift = gifts.find(({ field }) => isIn(field.node, at));
      if (gift === undefined) report.warning(at, problem, message);
      else
        report.warning(
          map.at,
          problem,
          `${message} (by the overlay at ${overlayText(gift.overlay)})`,
        );
    },
  };
}

function summaryOf(gifts: readonly Gift[]): readonly OverlaidFields[] {
  const overlays = [...new Set(gifts.map(({ overlay }) => overlay))];
  return overlays.map((overlay) => ({
    file: overlay.file,
    at: overlay.at,
    names: gifts.filter((gift) => gift.overlay === overlay).map(({ field }) => field.name),
  }));
}
