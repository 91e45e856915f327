import { createBar, createLines, valueText } from './hot-keys.mjs';
import { Sparkline } from './sparkline.mjs';
import { element, limitText, numberText, rateText, setText } from './text.mjs';

const FIGURES = [
  ['hits', 'hits/s'],
  ['near', 'near/s'],
  ['over', 'over/s'],
  ['shadow', 'shadow/s'],
];
const NOTHING = [0, 0, 0, 0];
const SHOWN_VALUES = 3;

function createFigures() {
  const line = new Sparkline();
  const figures = FIGURES.map(([name, label]) => {
    const value = element('b', '', '0');
    const cell = element('span', `figure ${name}`, element('span', 'label', label), ' ', value);
    cell.dataset.zero = '';
    return { cell, value };
  });
  return {
    elements: [line.element, ...figures.map(({ cell }) => cell)],
    show(rates) {
      figures.forEach(({ cell, value }, i) => {
        setText(value, rateText(rates[i]));
        cell.toggleAttribute('data-zero', rates[i] === 0);
      });
      line.push(rates[0]);
    },
  };
}

function createValueLine() {
  const key = element('span', 'key');
  const count = element('span', 'count');
  const rate = element('span', 'rate');
  const { bar, show } = createBar();
  return {
    element: element('li', 'value', key, bar, count, rate),
    show(hot) {
      const text = hot.entries?.map(([, value]) => value).join(' › ') ?? hot.text;
      setText(key, text);
      key.title = text;
      setText(count, valueText(hot));
      setText(rate, `${rateText(hot.perSecond)} /s`);
      show(hot);
    },
  };
}

function chipsOf({ shadow, quota, name }) {
  const chips = [];
  if (shadow) chips.push(element('span', 'chip shadow', 'shadow'));
  if (quota) chips.push(element('span', 'chip', 'quota'));
  if (name !== '') chips.push(element('span', 'chip', name));
  return chips;
}

/** A rule and those below it; what can be told of it later goes into `byId`. */
function createRule({ key, value, limit, children }, byId) {
  const label = element('span', 'key', element('b', '', key));
  label.append(element('span', 'any', value === undefined ? ' any' : '='), value ?? '');
  const rule = element('span', 'rule', label);
  const row = element('div', 'row', rule);
  const item = element('li', '', row);
  item.dataset.text = `${key}=${value ?? 'any'} ${limit?.name ?? ''}`.toLowerCase();
  if (limit !== undefined) {
    rule.append(element('span', 'limit', limitText(limit)), ...chipsOf(limit));
    const figures = createFigures();
    row.append(...figures.elements);
    const values = element('ul', 'values');
    values.hidden = true;
    item.append(values);
    byId.set(limit.id, { figures, values, showValues: createLines(values, createValueLine) });
  }
  if (children.length > 0)
    item.append(element('ul', '', ...children.map((child) => createRule(child, byId))));
  return item;
}

function createDomain({ name, rules }, byId) {
  const figures = createFigures();
  const head = element('div', 'row head', element('h3', 'rule', name), ...figures.elements);
  const list = element('ul', '', ...rules.map((rule) => createRule(rule, byId)));
  const card = element('article', 'domain', head, list);
  card.dataset.text = name.toLowerCase();
  if (rules.length === 0)
    list.replaceWith(
      element('p', 'row note', 'No limits here: every request of this domain is OK.'),
    );
  return { card, figures };
}

function emptyRules(isLoaded) {
  const what = isLoaded ? 'The rules hold no domain: ' : 'No rules are loaded: ';
  return element(
    'p',
    'empty',
    `${what}put a YAML file with a domain and its descriptors into the folder of the rules, or look in the log for what was wrong with it. This page follows by itself.`,
    element('code', '', 'RUNTIME_ROOT/RUNTIME_SUBDIRECTORY/config/*.yaml'),
  );
}

/** The tree of the rules with its figures. */
export function createRules(box, filter) {
  let byId = new Map();
  let domains = [];
  const filterRules = () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const { card } of domains) hideOthers(card, wanted);
  };
  filter.addEventListener('input', filterRules);
  return {
    build({ domains: listed, unlisted, isLoaded }) {
      byId = new Map();
      domains = listed.map((domain) => createDomain(domain, byId));
      box.replaceChildren(...domains.map(({ card }) => card));
      if (domains.length === 0) box.append(emptyRules(isLoaded));
      if (unlisted > 0) {
        const link = element('a', '', '/rlconfig');
        link.href = '/rlconfig';
        const more = `${numberText(unlisted)} more limits are counted in the sums above and listed at `;
        box.append(element('p', 'note', more, link));
      }
      filterRules();
    },
    show({ rules, domains: sums, hot }) {
      const moved = new Map(rules.map(([id, ...rates]) => [id, rates]));
      for (const [id, { figures }] of byId) figures.show(moved.get(id) ?? NOTHING);
      const summed = new Map(sums.map(([place, ...rates]) => [place, rates]));
      domains.forEach(({ figures }, place) => figures.show(summed.get(place) ?? NOTHING));
      const hotById = Map.groupBy(hot, ({ rule }) => rule);
      for (const [id, { values, showValues }] of byId) {
        const keys = hotById.get(id)?.slice(0, SHOWN_VALUES) ?? [];
        values.hidden = keys.length === 0;
        showValues(keys);
      }
    },
  };
}

/** Shows an item when it, something above it or something below it holds the text. */
function hideOthers(item, wanted) {
  const isFound = item.dataset.text.includes(wanted);
  let isAnyFound = false;
  for (const below of item.querySelectorAll(':scope > ul > li[data-text]'))
    isAnyFound = hideOthers(below, isFound ? '' : wanted) || isAnyFound;
  item.hidden = !isFound && !isAnyFound;
  return !item.hidden;
}
