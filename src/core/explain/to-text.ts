import type {
  CounterExplanation,
  DescriptorExplanation,
  Explanation,
  LevelExplanation,
  LimitExplanation,
} from './explanation';
import { sourceText } from './limit-fields';

/** An explanation for a person: a line for each level, indented. */
export function explanationText(explanation: Explanation): string {
  const { overallCode, charge, rules, descriptors, responseHeaders } = explanation;
  const version = rules && `rules: ${rules.version} of ${rules.source}, loaded ${rules.loadedAt}`;
  return [
    `overall: ${overallCode ?? 'unknown'}, because ${explanation.because}`,
    ...(charge === undefined ? [] : ['charge: together: nothing is charged while one refuses']),
    ...(version === undefined ? [] : [version]),
    ...descriptors.flatMap(descriptorLines),
    ...responseHeaders.map(([name, value]) => `header ${name}: ${value}`),
    '',
  ].join('\n');
}

/** One descriptor: its path, then its limit or why there is none. */
export function descriptorLines(descriptor: DescriptorExplanation): readonly string[] {
  const { entries, path, limit, metric, counter, ifAsked, noLimit, order, sent, notes } =
    descriptor;
  const below = [
    ...(limit === undefined ? [] : [limitLine(limit)]),
    ...(metric === undefined ? [] : [`metric ${metric}`]),
    ...(counter === undefined ? [] : [counterLine(counter), ...leftLines(counter)]),
    ...(ifAsked === undefined ? [] : [askedLine(ifAsked)]),
    ...(noLimit === undefined ? [] : [`no limit: ${noLimit.reason}: ${noLimit.hint}`]),
    ...(noLimit?.also === undefined ? [] : ["the request's own limit is ignored"]),
    ...[order, sent].filter((text) => text !== undefined),
    ...(notes ?? []),
  ];
  return [
    entries.join(', '),
    ...path.flatMap(levelLines),
    ...below.map((line) => `${indent(path.length + 1)}${line}`),
  ];
}

function levelLines(level: LevelExplanation, index: number): readonly string[] {
  const { entry, matched, rule, at, passedOver = [] } = level;
  const place = at === undefined ? '' : `, ${at}`;
  return [
    `${indent(index + 1)}${entry}: the rule ${rule} (${matched}${place})`,
    ...passedOver.map((other) => {
      const where = other.at === undefined ? '' : ` (${other.at})`;
      return `${indent(index + 2)}passed over: ${other.rule}${where}: ${other.why}`;
    }),
  ];
}

function limitLine({
  requestsPerUnit,
  unit,
  words,
  at,
  overlays = [],
  ...limit
}: LimitExplanation): string {
  const flags = [
    ...(limit.name === undefined ? [] : [`name ${JSON.stringify(limit.name)}`]),
    ...(limit.limits === undefined ? [limit.algorithm] : []),
    ...(limit.shadowMode ? ['shadow mode'] : []),
    ...(limit.quotaMode ? ['quota mode'] : []),
    ...(limit.source === undefined ? [] : ['of the request itself']),
    ...(limit.limitsFrom === undefined ? [] : [sourceText(limit.limitsFrom)]),
    ...(limit.timeZoneData === undefined ? [] : [`time zones ${limit.timeZoneData}`]),
    ...[at, ...overlays].filter((text) => text !== undefined),
  ];
  const text = words ?? `${String(requestsPerUnit)} per ${unit.toLowerCase()}`;
  return `limit ${text} (${flags.join(', ')})`;
}

function counterLine(counter: CounterExplanation): string {
  const { key, store, count, expiresInSeconds, cachedOverLimit, error } = counter;
  const expiry =
    expiresInSeconds === undefined ? '' : `, expires in ${String(expiresInSeconds)} seconds`;
  const known = cachedOverLimit ? ', cached as over the limit' : '';
  const stands = error === undefined ? `count ${String(count)}${expiry}` : `not read: ${error}`;
  return `counter ${key} in ${store}: ${stands}${budgetText(counter)}${leaseText(counter)}${known}`;
}

function leaseText({ lease }: CounterExplanation): string {
  return lease === undefined
    ? ''
    : `, on lease: ${String(lease.left)} of ${String(lease.of)} are left here`;
}

function budgetText({ held, open, strikes, blockedSeconds }: CounterExplanation): string {
  return [
    ...(open === undefined ? [] : [`${String(open)} open`, `${String(held)} held`]),
    ...(strikes === undefined ? [] : [`refusals towards a block: ${String(strikes)}`]),
    ...(blockedSeconds === undefined ? [] : [`blocked for ${String(blockedSeconds)} more seconds`]),
  ]
    .map((text) => `, ${text}`)
    .join('');
}

/** The remaining hits of each limit, for a rule with several. */
function leftLines({ limits = [] }: CounterExplanation): readonly string[] {
  const texts = limits.map(({ name, remaining, resetSeconds }) => {
    const reset = resetSeconds === 0 ? '' : ` (resets in ${String(resetSeconds)} seconds)`;
    return `${name} ${String(remaining)}${reset}`;
  });
  return texts.length === 0 ? [] : [`left: ${texts.join(', ')}`];
}

function askedLine(asked: NonNullable<DescriptorExplanation['ifAsked']>): string {
  const { hits, code, remaining, resetSeconds } = asked;
  const reset = resetSeconds === undefined ? '' : `, resets in ${String(resetSeconds)} seconds`;
  return `for ${String(hits)} more: ${code}, remaining ${String(remaining)}${reset}`;
}

function indent(levels: number): string {
  return '  '.repeat(levels);
}
