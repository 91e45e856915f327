import { element, limitText, numberText, rateText, setState, setText, spanText } from './text.mjs';

/** How full a counter is; nothing is known of one that only the local cache spoke of. */
export function stateOf({ value, limit, isOver }) {
  if (isOver) return 'over';
  return value > limit * 0.8 ? 'near' : 'within';
}

export function valueText({ value, limit, isOver }) {
  if (value === undefined) return isOver ? 'over' : '';
  return `${numberText(value)} / ${numberText(limit)}`;
}

export function createBar() {
  const fill = document.createElement('i');
  const bar = element('div', 'bar', fill);
  bar.setAttribute('aria-hidden', 'true');
  return {
    bar,
    show(key) {
      const full = key.isOver ? 1 : Math.min((key.value ?? 0) / Math.max(key.limit, 1), 1);
      fill.style.width = `${(full * 100).toFixed(1)}%`;
      setState(bar, stateOf(key));
    },
  };
}

/** Keeps as many lines as there are items, and fills them; texts change, lines stay. */
export function createLines(list, createLine) {
  const lines = [];
  return (items) => {
    while (lines.length < items.length) {
      const line = createLine();
      lines.push(line);
      list.append(line.element);
    }
    lines.forEach((line, i) => {
      line.element.hidden = i >= items.length;
      if (i < items.length) line.show(items[i]);
    });
  };
}

function createHotLine() {
  const domain = element('span', 'any');
  const text = element('span');
  const rate = element('span', 'rate');
  const count = element('span', 'count');
  const chip = element('span', 'chip over', 'over');
  const { bar, show } = createBar();
  const name = element('span', 'key', domain, text);
  return {
    element: element('li', '', name, rate, bar, element('span', 'count', chip, ' ', count)),
    show(key) {
      const pairs = key.entries?.map(([one, value]) => `${one}=${value}`);
      setText(domain, key.domain === '' ? '' : `${key.domain} `);
      setText(text, pairs?.join(' › ') ?? key.text);
      setText(rate, `${rateText(key.perSecond)} /s`);
      chip.hidden = !key.isOver;
      const counted = key.value === undefined ? 'of' : `${numberText(key.value)} of`;
      setText(
        count,
        `${counted} ${limitText({ requestsPerUnit: key.limit, unit: key.unit })}, resets in ${spanText(key.resetsIn)}`,
      );
      show(key);
    },
  };
}

const SHOWN = 9;

export function createHotKeys(list, note) {
  const show = createLines(list, createHotLine);
  return ({ hot, hotError }, example) => {
    show(hot.slice(0, SHOWN));
    if (hot.length === 0) {
      if (note.firstChild?.nodeName !== 'P' || note.dataset.example !== example) {
        note.replaceChildren(emptyNote(example));
        note.dataset.example = example;
      }
      return;
    }
    const bound = hotError < 0.05 ? '' : ` Each may have up to ${rateText(hotError)} /s more.`;
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
