import { createLines } from './lines.mjs';
import { element, rateText, setText, shareText, timeText } from './text.mjs';
import { failedOf } from './tiles.mjs';

/** Seconds that a share of failed decisions is of: one bad second stays long enough to be read. */
const SPAN = 10;

function createTrouble() {
  const text = element('strong');
  const since = element('span', 'since');
  const details = element('ul', 'details');
  const show = createLines(details, () => {
    const line = element('li');
    return { element: line, show: (detail) => setText(line, detail) };
  });
  return {
    element: element('li', '', text, ' ', since, details),
    show(trouble) {
      setText(text, trouble.text);
      setText(since, trouble.since === undefined ? '' : `since ${trouble.since}`);
      show(trouble.details.map((detail) => [detail, detail]));
    },
  };
}

/** Sums over the last seconds, each of them a rate. */
function meanOf(seconds, read) {
  return seconds.reduce((sum, figures) => sum + read(figures), 0) / Math.max(seconds.length, 1);
}

/** What decisions suffer from: the share that fails, why, and what is answered without the store. */
function createDecisionTroubles() {
  const seconds = [];
  let noticed;
  return (figures) => {
    seconds.push(figures);
    if (seconds.length > SPAN) seconds.shift();
    const { nowSeconds } = figures;
    const calls = figures.troubles.find(({ name }) => name === 'calls');
    const failed = meanOf(seconds, failedOf);
    const invalid = meanOf(seconds, ({ serviceErrors }) => serviceErrors);
    const refused = meanOf(seconds, ({ breakerOpen }) => breakerOpen);
    const local = meanOf(seconds, ({ answeredLocally }) => answeredLocally);
    if (failed + local === 0 && calls === undefined) {
      noticed = undefined;
      return [];
    }
    noticed ??= nowSeconds;
    const start = calls === undefined ? noticed : nowSeconds - calls.lastedMs / 1_000;
    const since = timeText(Math.min(start, noticed), nowSeconds);
    const details = [...(calls?.details ?? [])];
    if (refused > 0)
      details.push(`circuit breaker open: ${rateText(refused)}/s are not passed on to the store`);
    if (invalid > 0)
      details.push(`${rateText(invalid)}/s are invalid requests, or came before any rules`);
    if (local > 0)
      details.push(`${rateText(local)}/s are answered without the store, as on_store_error says`);
    return [{ name: 'calls', text: failureText(seconds, failed), since, details }];
  };
}

function failureText(seconds, failed) {
  const requests = meanOf(seconds, ({ requests: one }) => one);
  if (requests === 0) return `Decisions failed; there were none in the last ${SPAN} s`;
  if (failed === 0) return 'The counter store fails; every decision is made without it';
  return `${shareText(failed, requests)} of decisions fail (${rateText(failed)}/s)`;
}

/** Says everything that is wrong; gone when nothing is. */
export function createBanner(box, list) {
  const show = createLines(list, createTrouble);
  const decisionTroubles = createDecisionTroubles();
  let told = [];
  let news = [];
  const draw = () => {
    const all = [...news, ...told];
    box.hidden = all.length === 0;
    show(all.map((trouble) => [trouble.name, trouble]));
    return all.length;
  };
  return {
    /** The number of things that are wrong. */
    show(figures) {
      const { troubles, nowSeconds } = figures;
      const others = troubles.filter(({ name }) => name !== 'calls');
      told = [
        ...decisionTroubles(figures),
        ...others.map(({ name, text, details, lastedMs }) => ({
          name,
          text,
          details,
          since: timeText(nowSeconds - lastedMs / 1_000, nowSeconds),
        })),
      ];
      news = [];
      return draw();
    },
    /** The service says nothing: since when, if it ever did. */
    silent(text, since) {
      news = [{ name: 'silent', text, since, details: [] }];
      draw();
    },
  };
}
