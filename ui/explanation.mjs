import {
  createLongText,
  cutMiddle,
  element,
  hitsText,
  levelText,
  limitText,
  numberText,
  spanText,
} from './text.mjs';

/** Characters of a key or a value in the answer; longer ones are cut in the middle. */
const MAX_STEP = 30;

/** What each code says of a request. */
const CODE_STATES = { OK: 'good', OVER_LIMIT: 'bad' };

function longText(short, full) {
  const long = createLongText();
  long.show(short, full);
  return long.element;
}

/** A text of the service: `key=value` of a level, or the name of a rule. */
function entryText(text, { key, value } = {}) {
  if (text !== `${key}=${value}`) return longText(cutMiddle(text, 2 * MAX_STEP), text);
  return longText(levelText(key, value, MAX_STEP), levelText(key, value));
}

function createStep(state, title, ...details) {
  const step = element('li', '', title, ...details);
  step.dataset.state = state;
  return step;
}

/** Where the limit of a value comes from. */
function sourceText({ key, field, value }) {
  const place = `the field ${cutMiddle(field, MAX_STEP)} of the hash ${cutMiddle(key, MAX_STEP)}`;
  return value === undefined ? `${place} holds no limit` : `${place} is ${value}`;
}

function placeText(at) {
  return at === undefined ? '' : `, ${at}`;
}

/** A level and the rule that it met; one that it met by its value has the same name. */
function levelStep({ entry, matched, rule, at, passedOver = [] }, asked) {
  const met =
    matched === 'value'
      ? ['by its value']
      : ['by the rule ', longText(cutMiddle(rule, 2 * MAX_STEP), rule), `, ${matched}`];
  const others = passedOver.map((other) =>
    element(
      'div',
      'count',
      'passed over: ',
      longText(cutMiddle(other.rule, MAX_STEP), other.rule),
      `${placeText(other.at)}: ${other.why}`,
    ),
  );
  const details = element('div', 'count', ...met, placeText(at));
  return createStep('met', entryText(entry, asked), details, ...others);
}

/** Where the path ends: at a limit, or without one. */
function lastStep({ limit, noLimit, ifAsked, order, sent, notes = [] }) {
  const more = [order, sent, ...notes].filter((text) => text !== undefined);
  const lines = (...texts) => texts.map((text) => element('div', 'count', text));
  if (limit === undefined) {
    const reason = noLimit === undefined ? '' : `: ${noLimit.reason.replaceAll('_', ' ')}`;
    const title = element('strong', '', `no limit${reason}`);
    return createStep('unmet', title, ...lines(noLimit?.hint ?? '', ...more));
  }
  const chips = [
    ...(limit.shadowMode ? [element('span', 'chip shadow', 'shadow')] : []),
    ...(limit.quotaMode ? [element('span', 'chip', 'quota')] : []),
  ];
  const title = element('div', '', element('strong', '', limitText(limit)), ...chips);
  const where = limit.source === undefined ? (limit.at ?? '') : 'the limit of the request itself';
  const from = limit.limitsFrom === undefined ? [] : [sourceText(limit.limitsFrom)];
  const { overlays = [] } = limit;
  const all = [where, ...overlays, ...from, ...more];
  return createStep(CODE_STATES[ifAsked?.code] ?? 'met', title, ...lines(...all));
}

/** The descriptor as a path from its domain to its limit. */
function pathView(domain, asked, descriptor) {
  const { path, entries, noLimit } = descriptor;
  const isKnown = noLimit?.reason !== 'unknown_domain';
  const steps = [createStep(isKnown ? 'met' : 'unmet', entryText(domain))];
  if (isKnown)
    entries.forEach((entry, i) => {
      const unmet = () => createStep('unmet', entryText(entry, asked[i]));
      steps.push(path[i] === undefined ? unmet() : levelStep(path[i], asked[i]));
    });
  return element('ol', 'path', ...steps, lastStep(descriptor));
}

function budgetText({ open, held, blockedSeconds }) {
  const holds = open === undefined ? '' : `; ${numberText(open)} open, ${numberText(held)} held`;
  return blockedSeconds === undefined ? holds : `${holds}; blocked for ${spanText(blockedSeconds)}`;
}

function leaseText(lease) {
  if (lease === undefined) return '';
  return `; on lease: ${numberText(lease.left)} of ${numberText(lease.of)} are left here`;
}

function standsText({ error, count, expiresInSeconds, cachedOverLimit, lease, ...budget }) {
  const expiry = expiresInSeconds === undefined ? '' : `, expires in ${spanText(expiresInSeconds)}`;
  const known = cachedOverLimit ? '; cached as over the limit' : '';
  return `${error ?? `${hitsText(count)}${expiry}`}${budgetText(budget)}${leaseText(lease)}${known}`;
}

/** What is left of each limit of a rule that has several. */
function leftText(limits) {
  return limits
    .map(({ name, remaining, resetSeconds }) => {
      const reset = resetSeconds === 0 ? '' : `, resets in ${spanText(resetSeconds)}`;
      return `${name}: ${numberText(remaining)}${reset}`;
    })
    .join('; ');
}

function askedText({ code, remaining, resetSeconds }) {
  const reset = resetSeconds === undefined ? '' : `, resets in ${spanText(resetSeconds)}`;
  return `${code}, ${numberText(remaining)} remaining${reset}`;
}

function factsView({ counter, ifAsked, metric }) {
  const facts = [];
  const add = (name, state, ...value) => {
    const text = element('dd', '', ...value);
    text.dataset.state = state;
    facts.push(element('div', '', element('dt', '', name), text));
  };
  if (counter !== undefined) {
    add('Current count', counter.error === undefined ? '' : 'bad', standsText(counter));
    if (counter.limits !== undefined) add('Left', '', leftText(counter.limits));
    add('Counter', '', longText(cutMiddle(counter.key, MAX_STEP), counter.key));
    add('Store', '', counter.store);
  }
  if (ifAsked !== undefined) add('Next hit', CODE_STATES[ifAsked.code], askedText(ifAsked));
  if (metric !== undefined) add('Metric', '', longText(cutMiddle(metric, MAX_STEP), metric));
  return element('dl', 'facts', ...facts);
}

/** What the service says of one descriptor; `asked` is the request. */
export function explanationView(
  { overallCode, because, charge, descriptors: [descriptor] },
  asked,
) {
  const code = element('span', 'code', overallCode ?? 'no answer');
  code.dataset.state = CODE_STATES[overallCode] ?? 'bad';
  const why = because.replace('descriptors[0]', 'the descriptor');
  const chips = charge === undefined ? [] : [' ', element('span', 'chip', 'charged together')];
  const [{ entries }] = asked.descriptors;
  return [
    element('p', 'verdict', code, ` ${why}`, ...chips),
    pathView(asked.domain, entries, descriptor),
    factsView(descriptor),
  ];
}
