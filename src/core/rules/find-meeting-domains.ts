import { kindOf } from '../kinds/kinds';
import { type DomainDefinition, type LimitDefinition, type RuleDefinition } from './definition';
import { hasDynamicValue } from './tree-draft';

/** Two domains whose fixed windows can share a key, with the first such limit of each. */
export interface MeetingDomains {
  readonly domains: readonly [string, string];
  readonly rules: readonly [RuleDefinition, RuleDefinition];
}

/** A counter key up to its first varying value. */
interface KeyText {
  readonly text: string;
  /** Whether a value follows, and with it any string. */
  readonly isOpen: boolean;
}

interface LimitKey extends KeyText {
  readonly domain: string;
  readonly rule: RuleDefinition;
}

/**
 * Finds domains whose fixed windows can share a counter key: `a_b` with `c` and `a` with `b_c` or any value of `b`. Each pair once.
 * The rest after the first varying value is not compared: a client may choose that value.
 */
export function findMeetingDomains(
  domains: readonly DomainDefinition[],
): readonly MeetingDomains[] {
  const keys = domains.flatMap(limitKeys);
  keys.sort((a, b) => compare(a.text, b.text) || compare(a.domain, b.domain));
  const found = new Map<string, MeetingDomains>();
  const begun: LimitKey[] = [];
  for (const key of keys) {
    // In sorted order, strings with a common prefix are adjacent: prefixes that this key lacks are done.
    while (begun.length > 0 && !key.text.startsWith((begun.at(-1) as LimitKey).text)) begun.pop();
    for (const other of begun) if (canMeet(other, key)) note(found, other, key);
    const isRepeated = begun.some((other) => isSame(other, key));
    if (!isRepeated) begun.push(key);
  }
  return [...found.values()];
}

function limitKeys({ domain, rules }: DomainDefinition): readonly LimitKey[] {
  const texts: KeyText[] = [];
  const keys: LimitKey[] = [];
  for (const rule of rules) {
    const key = keyText(rule.parent === -1 ? undefined : texts[rule.parent], domain, rule);
    texts.push(key);
    if (rule.budget === undefined && isSharedWindow(rule.limit))
      keys.push({ ...key, domain, rule });
  }
  return keys;
}

function keyText(above: KeyText | undefined, domain: string, rule: RuleDefinition): KeyText {
  if (above?.isOpen === true) return above;
  const { key, value = '' } = rule;
  const isOpen = hasDynamicValue(rule);
  const known = isOpen ? value.slice(0, Math.max(0, value.indexOf('*'))) : value;
  return { text: [above?.text ?? domain, key, known].join('_'), isOpen };
}

/** Whether it counts under a key of the reference; other keys end in the length of their domain. */
function isSharedWindow(limit: LimitDefinition | undefined): boolean {
  if (limit === undefined || limit.unlimited) return false;
  return limit.calendar === undefined && !kindOf(limit).isRecord;
}

/** Whether two keys, the second of which begins with the first, can be equal. */
function canMeet(first: LimitKey, second: LimitKey): boolean {
  return first.domain !== second.domain && (first.isOpen || first.text === second.text);
}

function isSame(a: LimitKey, b: LimitKey): boolean {
  return a.text === b.text && a.domain === b.domain && a.isOpen === b.isOpen;
}

function note(found: Map<string, MeetingDomains>, a: LimitKey, b: LimitKey): void {
  const [first, second] = a.domain < b.domain ? [a, b] : [b, a];
  const name = JSON.stringify([first.domain, second.domain]);
  if (found.has(name)) return;
  found.set(name, {
    domains: [first.domain, second.domain],
    rules: [first.rule, second.rule],
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
