import { createLines } from './lines.mjs';
import {
  createLongText,
  cutMiddle,
  element,
  levelText,
  limitText,
  numberText,
  rateText,
  setState,
  setText,
  spanText,
} from './text.mjs';
import { createWhyButton } from './why.mjs';

/** Characters of a key or a value that are shown; longer ones are cut in the middle. */
const MAX_PART = 30;

/** Hits that fit at once: under gcra the burst, whatever its limit per second is. */
function roomOf({ burst, limit }) {
  return burst ?? limit;
}

/** How full a counter is, of several limits the fullest, 0 to 1; nothing is known of one that only the local cache spoke of. */
function fullnessOf(key) {
  if (key.isOver) return 1;
  const shares = (key.budget?.limits ?? [{ used: key.value ?? 0, of: roomOf(key) }]).map(
    ({ used, of }) => used / Math.max(of, 1),
  );
  return Math.min(Math.max(...shares), 1);
}

function stateOf(key) {
  if (key.isOver) return 'over';
  return fullnessOf(key) > 0.8 ? 'near' : 'within';
}

/** All limits of a rule in words: `3 of 10 per second, 2 of 4 in flight; 2 open, 12,300 held; blocked for 15 min`. */
function usesText({ limits, open, held, blockedSeconds }) {
  const uses = limits.map(
    ({ used, of, words }) => `${numberText(used)} of ${numberText(of)} ${words}`,
  );
  return [
    uses.join(', '),
    ...(open > 0 ? [`${numberText(open)} open, ${numberText(held)} held`] : []),
    ...(blockedSeconds === undefined ? [] : [`blocked for ${spanText(blockedSeconds)}`]),
  ].join('; ');
}

export function valueText({ value, limit, burst, isOver, budget }) {
  if (budget !== undefined) return usesText(budget);
  if (value === undefined) return isOver ? 'over' : '';
  if (burst !== undefined) return burstText(value, burst);
  if (limit === 0) return `${numberText(value)} hits, blocked`;
  return `${numberText(value)} of ${numberText(limit)} hits`;
}

function burstText(value, burst) {
  return `${numberText(value)} of ${numberText(burst)} (burst)`;
}

export function createBar() {
  const fill = document.createElement('i');
  const bar = element('div', 'bar', fill);
  bar.setAttribute('aria-hidden', 'true');
  return {
    bar,
    show(key) {
      fill.style.width = `${(fullnessOf(key) * 100).toFixed(1)}%`;
      setState(bar, stateOf(key));
    },
  };
}

/** Whether the value at a level comes from requests; `path` is that of the rule, undefined where it is not listed. */
export function isVarying(path, value, i) {
  const fixed = path?.[i];
  if (fixed === undefined) return true;
  return fixed.value === undefined || (fixed.value.includes('*') && fixed.value !== value);
}

/** The levels that tell this counter from others, and the whole path. */
function pathTexts({ entries, text }, path) {
  if (entries === undefined) return [cutMiddle(text, 2 * MAX_PART), text];
  const shown = entries.filter(
    ([key, value], i) =>
      isVarying(path, value, i) || (key !== value && key.length + value.length <= MAX_PART),
  );
  const levels = shown.length > 0 ? shown : entries.slice(-1);
  const join = (some, length) =>
    some.map(([key, value]) => levelText(key, value, length)).join(' › ');
  return [join(levels, MAX_PART), join(entries)];
}

function countText(key) {
  if (key.budget !== undefined) return usesText(key.budget);
  const limit = limitText({ requestsPerUnit: key.limit, unit: key.per });
  const reset = `resets in ${spanText(key.resetsIn)}`;
  if (key.value === undefined) return `of ${limit}, ${reset}`;
  if (key.limit === 0) return `${numberText(key.value)} hits, ${limit}, ${reset}`;
  if (key.burst !== undefined) return `${burstText(key.value, key.burst)}, ${limit}, ${reset}`;
  return `${numberText(key.value)} of ${limit}, ${reset}`;
}

function createHotLine(why) {
  const domain = element('span', 'any');
  const long = createLongText();
  const rate = element('span', 'rate');
  const count = element('span');
  const chip = element('span', 'chip over', 'over');
  const leased = element('span', 'chip leased');
  const { bar, show } = createBar();
  const name = element('div', 'name', domain, long.element);
  const button = createWhyButton(why);
  return {
    element: element(
      'li',
      '',
      name,
      rate,
      bar,
      element('span', 'count', chip, leased, ' ', count),
      button.element,
    ),
    show({ key, path }) {
      setText(domain, key.domain === '' ? '' : `${cutMiddle(key.domain, MAX_PART)} `);
      const [short, full] = pathTexts(key, path);
      const isWhole = short === full && key.domain.length <= MAX_PART;
      long.show(short, isWhole ? short : `${key.domain} ${full}`);
      button.show(key.domain, key.entries, key.entries !== undefined);
      setText(rate, `${rateText(key.perSecond)} hits/s`);
      chip.hidden = !key.isOver;
      leased.hidden = key.isLeased !== true;
      setText(leased, leased.hidden ? '' : 'leased');
      setText(count, countText(key));
      show(key);
    },
  };
}

const SHOWN = 9;

export function createHotKeys(list, note, why) {
  const show = createLines(list, () => createHotLine(why));
  return ({ hot, hotError }, pathOf, example) => {
    show(hot.slice(0, SHOWN).map((key) => [key.id, { key, path: pathOf(key.rule) }]));
    if (hot.length === 0) {
      if (note.firstChild?.nodeName !== 'P' || note.dataset.example !== example) {
        note.replaceChildren(emptyNote(example));
        note.dataset.example = example;
      }
      return;
    }
    const bound = hotError < 0.05 ? '' : ` Each may have up to ${rateText(hotError)} hits/s more.`;
    if (note.firstChild?.nodeName !== 'SPAN') note.replaceChildren(element('span', 'note'));
    setText(note.firstChild, `Hits of the last seconds.${bound}`);
  };
}

function emptyNote(example) {
  const text = 'No counter was hit in the last seconds.';
  if (example === '') return element('p', 'empty', text);
  return element(
    'p',
    'empty',
    `${text} Send a request to see it here:`,
    element('code', '', example),
  );
}
