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

export function limitText({ unlimited, requestsPerUnit, unit }) {
  return unlimited ? 'unlimited' : `${whole.format(requestsPerUnit)} per ${unit.toLowerCase()}`;
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
