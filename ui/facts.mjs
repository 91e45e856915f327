import { createLines } from './lines.mjs';
import { element, numberText, rateText, setState, setText } from './text.mjs';

const GAUGES = [
  ['ratelimit.redis_pool.cx_active', 'Connections', 'open'],
  ['ratelimit.redis_per_second_pool.cx_active', 'Connections, limits per second', 'open'],
  ['ratelimit.memory.live_keys', 'Counters in memory', 'counters'],
  ['ratelimit.memcache.pending_keys', 'Pending writes', 'counters'],
  ['ratelimit.localcache.entryCount', 'Local cache', 'counters'],
];

function createFact() {
  const name = element('dt');
  const value = element('dd');
  return {
    element: element('div', '', name, value),
    show([nameText, text, state = '']) {
      setText(name, nameText);
      setText(value, text);
      setState(value, state);
    },
  };
}

/** Errors per second, those that happen only. */
function errorsOf(figures) {
  const { storeErrors, storeTimeouts, answeredLocally, serviceErrors, abandoned, unknownDomains } =
    figures;
  const errors = [
    ['Failed by the store', storeErrors],
    ['of these too late', storeTimeouts],
    ['of these answered here', answeredLocally],
    ['Invalid requests', serviceErrors],
    ['Callers gave up', abandoned],
    ['Domain without rules', unknownDomains],
  ];
  return errors
    .filter(([, rate]) => rate > 0)
    .map(([name, rate]) => [name, `${rateText(rate)}/s`, 'bad']);
}

function storeFacts({ storeName, storeConnected, breakerOpen, gauges }) {
  const isMemory = storeName === 'memory';
  const facts = [['Counters', isMemory ? 'in this process' : storeName]];
  if (!isMemory) {
    facts.push(['Connection', storeConnected ? 'up' : 'down', storeConnected ? '' : 'bad']);
    if (breakerOpen > 0) facts.push(['Circuit breaker', 'open', 'bad']);
  }
  for (const [gauge, name, unit] of GAUGES)
    if (gauges[gauge] !== undefined) facts.push([name, `${numberText(gauges[gauge])} ${unit}`]);
  return facts;
}

function batchText({ batch }) {
  if (batch === undefined) return 'no requests';
  return `${rateText(batch.mean)} requests, largest ${numberText(batch.largest)}`;
}

/** What says where days and months begin; nothing where no rule has a calendar. */
function zoneFacts({ timeZoneData }) {
  return timeZoneData === undefined ? [] : [['Time zones', timeZoneData]];
}

/** Which rules are in force: instances with the same rules show the same. */
function rulesFacts({ rulesVersion }) {
  if (rulesVersion === undefined) return [];
  const { version, loadedAt } = rulesVersion;
  const since = loadedAt.slice(0, 16).replace('T', ' ');
  return [['Rules', `${version.slice(0, 'sha256:'.length + 12)}, loaded ${since} UTC`]];
}

export function createFacts(list) {
  const show = createLines(list, createFact);
  return (figures) => {
    const facts = [
      ...storeFacts(figures),
      ...errorsOf(figures),
      ['Batch size', batchText(figures)],
      ...rulesFacts(figures),
      ...zoneFacts(figures),
      ['Memory', `${numberText(figures.memoryBytes / 1_048_576)} MiB`],
    ];
    show(facts.map((fact) => [fact[0], fact]));
  };
}
