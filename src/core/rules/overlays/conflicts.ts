import { quote, type Located } from '../../../fields/located';
import { describePlace, type RuleProblem } from '../../../fields/problem';
import type { Overlay, OverlayField } from './overlay';

/** Pairs of overlays in one step; patterns that are compared count by their lengths. */
const PAIRS = 2_000;
const CHARACTERS = 64;

/** Mistakes: two overlays that meet one rule give a field two values. Whether there is such a rule does not matter. */
export function* findConflicts(
  overlays: readonly Overlay[],
): Generator<void, readonly RuleProblem[]> {
  const problems: RuleProblem[] = [];
  const texts = new Map<OverlayField, string>();
  for (const { fields } of overlays)
    for (const field of fields) texts.set(field, textOf(field.node));
  let work = 0;
  for (const one of overlays)
    for (const other of overlays) {
      if (other === one) break;
      if (work > PAIRS) {
        yield;
        work = 0;
      }
      work += 1;
      if (one.path.length !== other.path.length) continue;
      const field = one.fields.find((own) => other.fields.some((its) => differs(own, its, texts)));
      if (field === undefined) continue;
      work += (lengthOf(one) * lengthOf(other)) / CHARACTERS;
      if (canMeet(one, other)) problems.push(conflict(one, other, field));
    }
  return problems;
}

function differs(
  a: OverlayField,
  b: OverlayField,
  texts: ReadonlyMap<OverlayField, string>,
): boolean {
  return a.holder === b.holder && a.name === b.name && texts.get(a) !== texts.get(b);
}

function conflict(one: Overlay, other: Overlay, { holder, name }: OverlayField): RuleProblem {
  const where = other.file === one.file ? '' : ` of ${quote(other.file)}`;
  const message = `this overlay and that ${describePlace(other.at)}${where} can match one rule and give ${name} of ${holder} two values; expected one value, or patterns that no rule matches both of`;
  return { severity: 'error', class: 'overlay-conflict', file: one.file, at: one.at, message };
}

/** A value without its places. */
function textOf(node: Located): string {
  switch (node.kind) {
    case 'scalar':
      return JSON.stringify([node.text, node.quoted]);
    case 'list':
      return `[${node.items.map(textOf).join()}]`;
    case 'map':
      return `{${node.pairs.map(({ key, value }) => `${textOf(key)}:${textOf(value)}`).join()}}`;
  }
}

function lengthOf({ domain, path }: Overlay): number {
  return path.reduce(
    (sum, { key = '', value = '' }) => sum + key.length + value.length,
    domain.length,
  );
}

/** Whether one rule may match both. */
function canMeet(one: Overlay, other: Overlay): boolean {
  return (
    shareText(one.domain, other.domain) &&
    one.path.every((step, depth) => {
      const its = other.path[depth];
      return shareText(step.key, its?.key) && shareText(step.value, its?.value);
    })
  );
}

/** Whether there is a text that both match; undefined matches all. */
export function shareText(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return true;
  if (!a.includes('*') && !b.includes('*')) return a === b;
  return sameEnds(a, b) && canBeOne(a, b);
}

function canBeOne(a: string, b: string): boolean {
  // reach[j]: the first i characters of `a` and the first j of `b` match one text.
  const others = Array.from(b);
  let reach = [true, ...others.map((_, j) => others.slice(0, j + 1).every((one) => one === '*'))];
  for (const character of a) {
    const isStar = character === '*';
    const next = [isStar && reach[0] === true];
    for (const [at, other] of others.entries()) {
      const j = at + 1;
      const isAnyStar = isStar || other === '*';
      const [isAbove, isBefore] = [reach[j] === true, next[j - 1] === true];
      next[j] = isAnyStar ? isAbove || isBefore : character === other && reach[at] === true;
    }
    reach = next;
  }
  return reach[others.length] === true;
}

/** Most pairs differ before the first star, or after the last one. */
function sameEnds(a: string, b: string): boolean {
  const front = Math.min(cut(a.indexOf('*'), a), cut(b.indexOf('*'), b));
  if (a.slice(0, front) !== b.slice(0, front)) return false;
  const back = Math.min(a.length - 1 - a.lastIndexOf('*'), b.length - 1 - b.lastIndexOf('*'));
  return back === 0 || a.slice(-back) === b.slice(-back);
}

function cut(at: number, text: string): number {
  return at === -1 ? text.length : at;
}
