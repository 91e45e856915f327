import { createLines } from './lines.mjs';
import {
  createLongText,
  cutMiddle,
  element,
  levelText,
  numberText,
  rateText,
  setText,
} from './text.mjs';
import { createWhyButton } from './why.mjs';

const MAX_SHAPE_KEY = 28;

function createShape(why) {
  const long = createLongText();
  const rate = element('span', 'rate');
  const total = element('span', 'count');
  const button = createWhyButton(why);
  return {
    element: element('li', '', long.element, rate, total, button.element),
    show({ domain, keys, example, further, perSecond, total: seen }) {
      const more = further > 0 ? ` › ${further} more` : '';
      const shapeOf = (one) => `${domain} ${one.join(' › ')}${more}`;
      const short = keys?.map((key) => cutMiddle(key, MAX_SHAPE_KEY)) ?? [];
      const full = keys?.map((key, i) => levelText(key, example[i])) ?? [];
      if (keys === undefined) long.show(cutMiddle(domain, 40), domain);
      else long.show(shapeOf(short), `${shapeOf(full)} (the first one)`);
      const pairs = keys?.map((key, i) => [key, example[i]]);
      button.show(domain, pairs, further === 0);
      setText(rate, `${rateText(perSecond)}/s`);
      const what = keys === undefined ? 'domain without rules' : 'no rule for these keys or values';
      setText(total, `${what}, ${numberText(seen)} seen`);
    },
  };
}

export function createUnmatched(list, note, why) {
  const show = createLines(list, () => createShape(why));
  return ({ unmatched }) => {
    show(
      unmatched.map((shape) => [JSON.stringify([shape.domain, shape.keys, shape.further]), shape]),
    );
    const none = 'None seen since a dashboard was opened.';
    setText(
      note,
      unmatched.length === 0
        ? none
        : 'The last 20 kinds, seen since a dashboard was opened. They limit nothing.',
    );
  };
}
