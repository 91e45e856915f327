import { type ParsedRules, type RuleDefinition } from '../../core/rules/definition';
import { findMeetingDomains, type MeetingDomains } from '../../core/rules/find-meeting-domains';
import { describePlace, WHOLE, type RuleProblem } from '../../core/rules/parse/problem';

/** Pairs of domains that are listed one by one. */
const MAX_LISTED = 20;

/** Warns of domains whose fixed windows can meet in one counter key, which the service takes without a word. */
export function meetingProblems({ domains }: ParsedRules): readonly RuleProblem[] {
  const meetings = findMeetingDomains(domains);
  const listed = meetings.slice(0, MAX_LISTED).map(toProblem);
  const more = meetings.length - listed.length;
  if (more === 0) return listed;
  const pairs = `${String(more)} more ${more === 1 ? 'pair' : 'pairs'} of domains`;
  return [...listed, warning(undefined, `${pairs} can count under the same keys`)];
}

function toProblem({ domains, rules }: MeetingDomains): RuleProblem {
  const [first, second] = domains.map((domain) => JSON.stringify(domain));
  const [rule, other] = rules;
  return warning(
    rule,
    `domains ${String(first)} and ${String(second)} can count under the same key, this limit and that of ${String(second)} ` +
      `${placeText(other)}: expected no domain that, with its keys, reads like another one and its keys`,
  );
}

function placeText({ place }: RuleDefinition): string {
  if (place === undefined) return 'elsewhere';
  return `${describePlace(place.limitAt ?? place.at)} of ${place.file}`;
}

function warning(rule: RuleDefinition | undefined, message: string): RuleProblem {
  const { file = '', at = WHOLE, limitAt = at } = rule?.place ?? {};
  return { severity: 'warning', class: 'domains-meet', file, at: limitAt, message };
}
