import { createBanner } from './banner.mjs';
import { createFacts } from './facts.mjs';
import { createHotKeys } from './hot-keys.mjs';
import { createRules } from './rules.mjs';
import { numberText, setState, setText, spanText, timeText } from './text.mjs';
import { createTiles } from './tiles.mjs';
import { createUnmatched } from './unmatched.mjs';
import { createWhy } from './why.mjs';
import { createWorkers } from './workers.mjs';

/** Figures older than this are no longer those of now. */
const STALE_SECONDS = 3;

const byName = (id) => document.getElementById(id);
const isoText = (seconds) => new Date(seconds * 1_000).toISOString();

/** Where the debug port's pages are: also below a path, as behind `kubectl proxy`, with and without a last slash. */
const root = location.pathname.replace(/ui\/?$/, '');
for (const link of document.querySelectorAll('.pages a'))
  link.href = root + link.getAttribute('href');

const rules = createRules(
  {
    table: byName('table'),
    note: byName('rules-note'),
    filter: byName('filter'),
    sort: byName('sort'),
    moving: byName('moving'),
    fold: byName('fold'),
    more: byName('more'),
    controls: byName('controls'),
  },
  root,
);
const banner = createBanner(byName('banner'), byName('wrong'));
const showTiles = createTiles(byName('tiles'));
const why = createWhy(
  {
    section: byName('why'),
    form: byName('why-form'),
    domain: byName('why-domain'),
    entries: byName('why-entries'),
    answer: byName('why-answer'),
    reset: byName('why-reset'),
  },
  root,
);
const showHotKeys = createHotKeys(byName('hot'), byName('hot-note'), why);
const showUnmatched = createUnmatched(byName('unmatched'), byName('unmatched-note'), why);
const showFacts = createFacts(byName('facts'));
const showWorkers = createWorkers(byName('workers-part'), byName('workers'));
let example = '';
/** When the last figures came, on the clock of this page, and what time it was for the service. */
let heard;

function say(state, text) {
  setState(byName('dot'), state);
  setText(byName('status'), text);
  document.title = state === 'bad' ? '(!) Weir' : 'Weir';
}

/** A request that hits the first rule there is, for who has no traffic yet. */
function exampleOf(domains) {
  for (const { name, rules: listed } of domains) {
    const rule = listed.find(({ limit }) => limit !== undefined);
    if (rule === undefined) continue;
    const value = (rule.value ?? 'anybody').replaceAll('*', 'x');
    return `ratelimit-client -domain ${name} -descriptors ${rule.key}=${value}`;
  }
  return '';
}

function show(figures) {
  const { serving, nowSeconds, instance } = figures;
  heard = { atMs: performance.now(), nowSeconds };
  const { wrong, isFailing } = banner.show(figures);
  const problems = `${numberText(wrong)} ${wrong === 1 ? 'problem' : 'problems'}`;
  if (wrong === 0) say('good', 'serving');
  else if (isFailing) say('bad', `most decisions fail, ${problems}`);
  else say('bad', `${serving ? 'serving' : 'not serving'}, ${problems}`);
  const { host, version, startedSeconds } = instance;
  const since = isoText(startedSeconds).slice(0, 16).replace('T', ' ');
  const upFor = spanText(nowSeconds - startedSeconds);
  setText(byName('instance'), `${host}, version ${version}, since ${since} UTC (${upFor})`);
  showTiles(figures);
  rules.show(figures);
  showHotKeys(figures, rules.pathOf, example);
  showUnmatched(figures);
  showFacts(figures);
  showWorkers(figures);
  why.allow(figures.adminApi);
  look();
}

/** Moves the clock, and greys figures that are no longer those of now. */
function look() {
  if (heard === undefined) return;
  const { atMs, nowSeconds } = heard;
  const age = (performance.now() - atMs) / 1_000;
  setText(byName('clock'), `${isoText(nowSeconds + age).slice(11, 19)} UTC`);
  const isStale = age >= STALE_SECONDS;
  byName('main').toggleAttribute('data-stale', isStale);
  byName('as-of').hidden = !isStale;
  if (!isStale) return;
  const asOf = timeText(nowSeconds, nowSeconds + age);
  setText(byName('as-of'), `Figures as of ${asOf}`);
  banner.silent('No news from the service', asOf);
  if (byName('dot').dataset.state === 'good') say('bad', 'no news from the service');
}

let source;

function open() {
  source = new EventSource(`${root}ui/events`);
  source.addEventListener('rules', ({ data }) => {
    const listed = JSON.parse(data);
    example = exampleOf(listed.domains);
    rules.build(listed);
  });
  source.addEventListener('figures', ({ data }) => show(JSON.parse(data)));
  source.addEventListener('full', ({ data }) => {
    source.close();
    const { maxListeners } = JSON.parse(data);
    say('bad', `${maxListeners} pages look at this service already: close one and load this again`);
  });
  source.addEventListener('error', () => {
    say('bad', 'no connection, trying again …');
    if (heard === undefined) banner.silent('No connection to the service', undefined);
  });
}

// A page that nobody sees asks for nothing.
document.addEventListener('visibilitychange', () => {
  source.close();
  if (document.hidden) say('', 'paused');
  else open();
});
setInterval(look, 1_000);
open();
