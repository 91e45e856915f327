import { createCallerTroubles } from './callers.mjs';
import { createLastSeconds, meanOf, SPAN } from './last-seconds.mjs';
import { createLines } from './lines.mjs';
import { element, rateText, setText, shareText, timeText } from './text.mjs';
import { erredOf, failedOf } from './tiles.mjs';

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

/** What decisions suffer from: the share that fails, why, and what is answered without the store. */
function createDecisionTroubles() {
  let noticed;
  return (seconds, figures) => {
    const { nowSeconds } = figures;
    const calls = figures.troubles.find(({ name }) => name === 'calls');
    const failed = meanOf(seconds, erredOf);
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
  const follow = createLastSeconds();
  const decisionTroubles = createDecisionTroubles();
  const callerTroubles = createCallerTroubles();
  let told = [];
  let news = [];
  const draw = () => {
    const all = [...news, ...told];
    box.hidden = all.length === 0;
    show(all.map((trouble) => [trouble.name, trouble]));
    return all.length;
  };
  return {
    /** How many things are wrong, and whether more than half of the decisions fail. */
    show(figures) {
      const { troubles, nowSeconds } = figures;
      const seconds = follow(figures);
      const others = troubles.filter(({ name }) => name !== 'calls' && name !== 'callers');
      told = [
        ...callerTroubles(seconds, figures),
        ...decisionTroubles(seconds, figures),
        ...others.map(({ name, text, details, lastedMs }) => ({
          name,
          text,
          details,
          since: timeText(nowSeconds - lastedMs / 1_000, nowSeconds),
        })),
      ];
      news = [];
      const requests = meanOf(seconds, (one) => one.requests);
      return { wrong: draw(), isFailing: meanOf(seconds, failedOf) * 2 > requests };
    },
    /** The service says nothing: since when, if it ever did. */
    silent(text, since) {
      news = [{ name: 'silent', text, since, details: [] }];
      draw();
    },
  };
}
