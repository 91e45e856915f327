const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const oneTenth = new Intl.NumberFormat('en', {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const tenths = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 4 });

/** A count: as many digits as one can read at a glance. */
export function numberText(value) {
  return value < 100_000 ? whole.format(value) : short.format(value);
}

/** A count of hits: `1 hit`, `30 hits`. */
export function hitsText(count) {
  return `${numberText(count)} ${count === 1 ? 'hit' : 'hits'}`;
}

/** A rate or a mean. */
export function rateText(value) {
  if (value === 0) return '0';
  if (value < 0.05) return '<0.1';
  return value < 9.95 ? oneTenth.format(value) : numberText(value);
}

/** A duration in milliseconds, with its unit apart. */
export function durationText(milliseconds) {
  if (milliseconds === undefined) return ['–', ''];
  if (milliseconds < 1) return [whole.format(milliseconds * 1000), 'µs'];
  if (milliseconds < 1000) return [tenths.format(milliseconds), 'ms'];
  return [tenths.format(milliseconds / 1000), 's'];
}

export function spanText(seconds) {
  const units = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
  ];
  const [size, unit] = units.find(([one]) => seconds >= one * 2) ?? [1, 's'];
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** The hits that a limit allows: `100 per day`, or the words that came with it. */
export function limitText({ unlimited, requestsPerUnit, unit, words }) {
  if (words !== undefined) return words;
  if (unlimited) return 'unlimited';
  return requestsPerUnit === 0
    ? 'blocked'
    : `${whole.format(requestsPerUnit)} per ${unit.toLowerCase()}`;
}

const share = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

export function shareText(part, all) {
  return share.format(part / all);
}

/** A time of day in UTC, with its date when that is not today. */
export function timeText(seconds, nowSeconds) {
  const [date, time] = new Date(seconds * 1_000).toISOString().slice(0, 19).split('T');
  const [today] = new Date(nowSeconds * 1_000).toISOString().split('T');
  return date === today ? `${time} UTC` : `${date} ${time} UTC`;
}

/** A text without its middle, which names that were generated differ least in. */
export function cutMiddle(text, length) {
  if (text.length <= length) return text;
  const characters = [...text];
  const head = Math.ceil((length - 1) * 0.55);
  return `${characters.slice(0, head).join('')}…${characters.slice(1 + head - length).join('')}`;
}

/** A level of a rule or a descriptor; Envoy Gateway writes the same text as key and value. */
export function levelText(key, value, length = Infinity) {
  const text = cutMiddle(key, length);
  return key === value ? text : `${text}=${cutMiddle(value, length)}`;
}

/** Texts of callers get into the page here only, as text. */
export function element(tag, className = '', ...children) {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function setState(node, state) {
  if (node.dataset.state !== state) node.dataset.state = state;
}

/** A short text that opens to the whole one, by mouse, touch and keyboard. */
export function createLongText() {
  const short = element('span');
  const summary = document.createElement('summary');
  const full = element('span', 'full');
  const details = element('details', '', summary, full);
  return {
    element: element('div', 'long key', short, details),
    show(shortText, fullText) {
      const isWhole = shortText === fullText;
      short.hidden = !isWhole;
      details.hidden = isWhole;
      setText(short, isWhole ? shortText : '');
      setText(summary, isWhole ? '' : shortText);
      setText(full, isWhole ? '' : fullText);
    },
  };
}
