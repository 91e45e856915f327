import { element, levelText } from './text.mjs';

/** Longest part of an entry that came from a list: longer ones were cut and would explain something else. */
const MAX_WHY_PART = 256;

/** `user=ann, path=/cart` as entries; undefined when a part has no key. */
export function parseEntries(text) {
  const entries = text.split(',').map((part) => {
    const at = part.indexOf('=');
    return { key: part.slice(0, Math.max(at, 0)).trim(), value: part.slice(at + 1).trim() };
  });
  return entries.some(({ key }) => key === '') ? undefined : entries;
}

function ruleLine({ entry, matched, rule, at, passedOver = [] }) {
  const place = at === undefined ? '' : `, ${at}`;
  const line = element(
    'li',
    '',
    element('span', 'key', entry),
    ` met ${rule} (${matched}${place})`,
  );
  if (passedOver.length > 0) {
    const others = passedOver.map((one) =>
      element('li', '', `${one.rule}${one.at === undefined ? '' : `, ${one.at}`}: ${one.why}`),
    );
    line.append(element('div', 'count', 'passed over:'), element('ul', '', ...others));
  }
  return line;
}

function counterLines({ counter, ifAsked, limit, noLimit, order, notes = [] }) {
  const lines = [];
  if (limit !== undefined) {
    const place = limit.at === undefined ? '' : `, ${limit.at}`;
    const flags = `${limit.shadowMode ? ', shadow mode' : ''}${limit.quotaMode ? ', quota' : ''}`;
    lines.push(`limit ${limit.requestsPerUnit} per ${limit.unit.toLowerCase()}${flags}${place}`);
  }
  if (counter !== undefined) {
    const expiry =
      counter.expiresInSeconds === undefined ? '' : `, expires in ${counter.expiresInSeconds} s`;
    const stands = counter.error ?? `stands at ${counter.count}${expiry}`;
    lines.push(`counter ${counter.key} in ${counter.store}: ${stands}`);
    if (counter.knownOverHere) lines.push('this instance knows it to be over');
  }
  if (ifAsked !== undefined) {
    const reset = ifAsked.resetSeconds === undefined ? '' : `, resets in ${ifAsked.resetSeconds} s`;
    lines.push(`if asked: ${ifAsked.code}, remaining ${ifAsked.remaining}${reset}`);
  }
  if (noLimit !== undefined) lines.push(`no limit (${noLimit.reason}): ${noLimit.hint}`);
  if (order !== undefined) lines.push(order);
  return [...lines, ...notes];
}

function explanationView({ overallCode = 'unknown', because, descriptors }) {
  return [
    element('p', 'verdict', `${overallCode}: ${because}`),
    ...descriptors.map((descriptor) =>
      element(
        'div',
        'path',
        element('ol', '', ...descriptor.path.map(ruleLine)),
        ...counterLines(descriptor).map((text) => element('div', 'count', text)),
      ),
    ),
  ];
}

/** The box that explains one descriptor, and resets its counter where the service allows it. */
export function createWhy({ section, form, domain, entries, answer, reset }, root) {
  let asked;

  const call = async (path, body) => {
    const response = await fetch(`${root}api/v1/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const said = await response.json();
    if (!response.ok) throw new Error(said.error ?? String(response.status));
    return said;
  };
  const say = (...nodes) => answer.replaceChildren(...nodes);
  const explain = async (body) => {
    asked = undefined;
    reset.disabled = true;
    try {
      const explanation = await call('explain', body);
      say(...explanationView(explanation));
      asked = body;
      reset.disabled = !explanation.descriptors.some(({ counter }) => counter !== undefined);
    } catch (error) {
      say(element('p', 'empty', error.message));
    }
  };
  const submit = () => {
    const parsed = parseEntries(entries.value);
    if (parsed === undefined) say(element('p', 'empty', 'Write it as key=value, key=value.'));
    else void explain({ domain: domain.value.trim(), descriptors: [{ entries: parsed }] });
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    submit();
  });
  reset.addEventListener('click', async () => {
    const body = asked;
    if (body === undefined) return;
    const [one] = body.descriptors;
    const name = one.entries.map(({ key, value }) => levelText(key, value)).join(', ');
    if (!confirm(`Reset the counter of ${name} in ${body.domain}? Its hits are forgotten.`)) return;
    try {
      await call('counters/reset', body);
      await explain(body);
    } catch (error) {
      say(element('p', 'empty', error.message));
    }
  });
  return {
    get isAllowed() {
      return !section.hidden;
    },
    /** What the service allows: `off`, `read` or `write`. */
    allow(access) {
      section.hidden = access === 'off';
      reset.hidden = access !== 'write';
    },
    /** Explains a descriptor of a list: pairs of key and value. */
    ask(ofDomain, pairs) {
      domain.value = ofDomain;
      entries.value = pairs.map(([key, value]) => `${key}=${value}`).join(', ');
      section.scrollIntoView({ block: 'nearest' });
      const listed = pairs.map(([key, value]) => ({ key, value }));
      void explain({ domain: ofDomain, descriptors: [{ entries: listed }] });
    },
  };
}

/** A button on a line of a list; hidden where what the list knows was cut. */
export function createWhyButton(why) {
  const button = element('button', 'why', 'why?');
  button.type = 'button';
  let shown;
  button.addEventListener('click', () => why.ask(shown.domain, shown.pairs));
  return {
    element: button,
    show(domain, pairs) {
      shown = { domain, pairs };
      const texts = [domain, ...(pairs ?? []).flat()];
      button.hidden = !why.isAllowed || pairs === undefined || texts.some(isCut);
    },
  };
}

function isCut(text) {
  return text.length > MAX_WHY_PART;
}
