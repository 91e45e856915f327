import { explanationView } from './explanation.mjs';
import { element, hitsText, levelText, timeText } from './text.mjs';

/** `user=ann, path=/cart` as entries; undefined when a part has no key. */
export function parseEntries(text) {
  const entries = text.split(',').map((part) => {
    const at = part.indexOf('=');
    return { key: part.slice(0, Math.max(at, 0)).trim(), value: part.slice(at + 1).trim() };
  });
  return entries.some(({ key }) => key === '') ? undefined : entries;
}

async function post(address, body) {
  const options = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  };
  const response = await fetch(address, options).catch(() => undefined);
  if (response === undefined) throw new Error('no answer from the service');
  const said = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(said.error ?? `the service answered ${response.status}`);
  return { said, atSeconds: Date.parse(response.headers.get('Date')) / 1_000 };
}

function resetQuestion({ domain, descriptors: [{ entries }] }) {
  const name = entries.map(({ key, value }) => levelText(key, value)).join(' › ');
  return `Reset the counter of ${name} in ${domain}? Its hits are forgotten.`;
}

/** The box that explains one descriptor, and resets its counter where the service allows it. */
export function createWhy({ section, form, domain, entries, answer, reset }, root) {
  let access = 'off';
  /** The request that the answer is of; undefined while there is none. */
  let asked;
  /** What a list put into the form: its values may hold what the form takes apart. */
  let listed = { text: '' };

  const show = (...nodes) => answer.replaceChildren(...nodes);
  const fail = (error) => {
    asked = undefined;
    reset.hidden = true;
    show(element('p', 'empty wrong', error.message));
  };
  const explain = async (body, ...before) => {
    asked = body;
    reset.hidden = true;
    answer.setAttribute('aria-busy', 'true');
    try {
      const { said, atSeconds } = await post(`${root}api/v1/explain`, body);
      if (asked !== body) return;
      const asOf = element('p', 'note', `As of ${timeText(atSeconds, atSeconds)}.`);
      show(...before, ...explanationView(said, body), asOf);
      const hasCounter = said.descriptors.some(({ counter }) => counter !== undefined);
      reset.hidden = access !== 'write' || !hasCounter;
    } catch (error) {
      if (asked === body) fail(error);
    }
    answer.removeAttribute('aria-busy');
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const parsed =
      entries.value === listed.text ? listed.entries : parseEntries(entries.value.trim());
    if (parsed !== undefined)
      void explain({ domain: domain.value.trim(), descriptors: [{ entries: parsed }] });
    else fail(new Error('Write the descriptor as key=value, key=value.'));
  });
  reset.addEventListener('click', async () => {
    const body = asked;
    if (!confirm(resetQuestion(body))) return;
    try {
      const { said } = await post(`${root}api/v1/counters/reset`, body);
      const hits = said.counters.reduce((sum, { count = 0 }) => sum + count, 0);
      await explain(body, element('p', 'note', `Reset from ${hitsText(hits)}.`));
      section.focus({ preventScroll: true });
    } catch (error) {
      fail(error);
    }
  });
  return {
    get isAllowed() {
      return access !== 'off';
    },
    /** What the service allows: `off`, `read` or `write`. */
    allow(allowed) {
      access = allowed;
      section.hidden = access === 'off';
    },
    /** Explains a descriptor of a list, pairs of key and value; without pairs, its domain. */
    async ask(ofDomain, pairs) {
      const text = pairs?.map(([key, value]) => `${key}=${value}`).join(', ') ?? '';
      const known = pairs?.map(([key, value]) => ({ key, value }));
      listed = { text, entries: known };
      domain.value = ofDomain;
      entries.value = text;
      section.focus({ preventScroll: true });
      await explain({
        domain: ofDomain,
        descriptors: [{ entries: known ?? [{ key: 'any', value: '' }] }],
      });
      const { top, bottom } = section.getBoundingClientRect();
      if (top < 0 || bottom > innerHeight) section.scrollIntoView({ block: 'start' });
    },
  };
}

/** A button on a line of a list; hidden where the list knows only a part of the descriptor. */
export function createWhyButton(why) {
  const button = element('button', 'ask', 'why?');
  button.type = 'button';
  let shown;
  button.addEventListener('click', () => void why.ask(shown.domain, shown.pairs));
  return {
    element: button,
    show(domain, pairs, isWhole) {
      shown = { domain, pairs };
      const texts = [domain, ...(pairs ?? []).flat()];
      button.hidden = !why.isAllowed || !isWhole || texts.some(isCut);
      const name = pairs?.map(([key, value]) => levelText(key, value)).join(' › ');
      button.setAttribute('aria-label', `why? ${[domain, name].join(' ').trim()}`);
    },
  };
}

/** The service ends texts that it cut with an ellipsis. */
function isCut(text) {
  return text.endsWith('…');
}
