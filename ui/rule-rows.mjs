import { createBar, isVarying, valueText } from './hot-keys.mjs';
import { createLines } from './lines.mjs';
import { Sparkline } from './sparkline.mjs';
import {
  createLongText,
  cutMiddle,
  element,
  levelText,
  limitText,
  rateText,
  setText,
} from './text.mjs';

const FIGURES = ['hits', 'near', 'over', 'shadow'];
/** Characters of a key or a value that are shown; longer ones are cut in the middle. */
const MAX_LEVEL = 34;
const SHOWN_VALUES = 3;

function createCells() {
  const line = new Sparkline();
  const cells = FIGURES.map((name) => {
    const value = element('b', '', '0');
    const cell = element('td', `figure ${name}`, value);
    cell.dataset.zero = '';
    return { cell, value };
  });
  cells[0].cell.prepend(line.element);
  return {
    elements: cells.map(({ cell }) => cell),
    show(rates, isSeen) {
      line.push(rates[0], isSeen);
      if (!isSeen) return;
      cells.forEach(({ cell, value }, i) => {
        setText(value, rateText(rates[i]));
        cell.toggleAttribute('data-zero', rates[i] === 0);
      });
    },
  };
}

function createValueLine() {
  const long = createLongText();
  const count = element('span', 'count');
  const rate = element('span', 'rate');
  const { bar, show } = createBar();
  return {
    element: element('li', 'value', long.element, bar, count, rate),
    show({ key, path }) {
      const [short, full] = valueTexts(key, path);
      long.show(short, full);
      setText(count, valueText(key));
      setText(rate, `${rateText(key.perSecond)} hits/s`);
      show(key);
    },
  };
}

/** The values that tell one counter of a rule from its others. */
function valueTexts({ entries, text }, path) {
  if (entries === undefined) return [cutMiddle(text, MAX_LEVEL), text];
  const varying = entries.filter(([, value], i) => isVarying(path, value, i));
  if (varying.length === 0) return ['one counter for all', 'one counter for all'];
  const full = varying.map(([, value]) => value).join(' › ');
  const short = varying.map(([, value]) => cutMiddle(value, MAX_LEVEL)).join(' › ');
  return [short, full];
}

function chipsOf({ shadow, quota, name, overlays }) {
  const chips = [];
  if (shadow) chips.push(element('span', 'chip shadow', 'shadow'));
  if (quota) chips.push(element('span', 'chip', 'quota'));
  if (overlays !== undefined) {
    const long = createLongText();
    long.show('overlay', overlays);
    long.element.classList.add('chip');
    chips.push(long.element);
  }
  if (name !== '') {
    const long = createLongText();
    long.show(cutMiddle(name, MAX_LEVEL), name);
    long.element.classList.add('chip');
    chips.push(long.element);
  }
  return chips;
}

function createFold(name) {
  const button = element('button', 'fold');
  button.type = 'button';
  button.setAttribute('aria-expanded', 'true');
  button.setAttribute('aria-label', `What is below ${cutMiddle(name, MAX_LEVEL)}`);
  return button;
}

/** A level of a rule, as rows of the table: itself, and the hottest keys of its limit. */
export function createRuleRow({ key, value, limit, children }, depth) {
  const long = createLongText();
  const any = value === undefined ? ' any' : '';
  const whole = value === undefined ? key : levelText(key, value);
  const short = value === undefined ? cutMiddle(key, MAX_LEVEL) : levelText(key, value, MAX_LEVEL);
  long.show(short, whole);
  const label = element('div', 'rule', long.element);
  if (any !== '') label.append(element('span', 'any', any));
  const head = element('th', '', label);
  head.scope = 'row';
  head.dataset.depth = Math.min(depth, 6);
  if (depth > 1) label.prepend(element('span', 'unseen', `Level ${depth}: `));
  const fold = children.length > 0 ? createFold(whole) : undefined;
  if (fold !== undefined) label.prepend(fold);
  const row = element('tr', 'row', head);
  const text = `${key}=${value ?? 'any'} ${limit?.name ?? ''}`.toLowerCase();
  if (limit === undefined) {
    const empty = element('td');
    empty.colSpan = FIGURES.length;
    row.append(empty);
    return { rows: [row], fold, text, show: () => undefined };
  }
  label.append(element('span', 'limit', limitText(limit)), ...chipsOf(limit));
  const cells = createCells();
  row.append(...cells.elements);
  const list = element('ul');
  const box = element('td', '', list);
  box.colSpan = FIGURES.length + 1;
  box.dataset.depth = head.dataset.depth;
  const values = element('tr', 'values', box);
  const showValues = createLines(list, createValueLine);
  return {
    rows: [row, values],
    fold,
    text,
    show(rates, hot, path, isSeen) {
      cells.show(rates, isSeen);
      values.hidden = !isSeen || hot.length === 0;
      showValues(
        values.hidden ? [] : hot.slice(0, SHOWN_VALUES).map((one) => [one.id, { key: one, path }]),
      );
    },
  };
}

/** The head of a domain, with its sums. */
export function createDomainRow({ name, charge, rules }) {
  const long = createLongText();
  long.show(cutMiddle(name, 40), name);
  const fold = rules.length > 0 ? createFold(name) : undefined;
  const title = element('h3', '', ...(fold === undefined ? [] : [fold]), long.element);
  if (charge !== undefined) title.append(' ', element('span', 'chip', 'charged together'));
  const head = element('th', '', title);
  head.scope = 'rowgroup';
  const cells = createCells();
  const row = element('tr', 'head', head, ...cells.elements);
  const rows = [row];
  if (rules.length === 0) {
    const note = element('td', 'note', 'No limits here: every request of this domain is OK.');
    note.colSpan = FIGURES.length + 1;
    rows.push(element('tr', '', note));
  }
  return { rows, fold, text: name.toLowerCase(), show: (rates) => cells.show(rates, true) };
}
