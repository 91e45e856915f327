import { createFacts } from './facts.mjs';
import { createHotKeys } from './hot-keys.mjs';
import { createRules } from './rules.mjs';
import { setState, setText } from './text.mjs';
import { createTiles } from './tiles.mjs';

const byId = (id) => document.getElementById(id);

const rules = createRules(byId('domains'), byId('filter'));
const showTiles = createTiles(byId('tiles'));
const showHotKeys = createHotKeys(byId('hot'), byId('hot-note'));
const showFacts = createFacts(byId('facts'));
let example = '';

function say(state, text) {
  setState(byId('dot'), state);
  setText(byId('status'), text);
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
  if (figures.serving) say('good', 'serving');
  else say('bad', `not serving: ${figures.down.join(', ')}`);
  showTiles(figures);
  rules.show(figures);
  showHotKeys(figures, example);
  showFacts(figures);
}

let source;

function open() {
  source = new EventSource('/ui/events');
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
  source.addEventListener('error', () => say('bad', 'no connection, trying again …'));
}

// A page that nobody sees asks for nothing.
document.addEventListener('visibilitychange', () => {
  source.close();
  if (document.hidden) say('', 'paused');
  else open();
});
open();
