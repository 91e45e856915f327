/** Where the time of a scenario begins: a minute, an hour and no day. */
export const SCENARIO_START = 1_795_240_800;

/** One scenario: rules, settings and steps, as `docs/internals/testing.md` says ("Scenarios"). */
export interface Scenario {
  readonly title: string;
  /** A rule file. */
  readonly rules: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Names of the set-ups that play it. */
  readonly setups: readonly string[];
  readonly steps: readonly Step[];
}

/** Of the last answers. */
export type AnswerPart = 'headers' | 'retry-after' | 'body' | 'metadata';

/** A line of a scenario, with what it asks or does. */
export type Step = { readonly line: string } & (
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'time'; readonly at: number }
  | { readonly kind: 'ask'; readonly asked: string; readonly expected: string }
  | { readonly kind: 'answer'; readonly part: AnswerPart }
  | { readonly kind: 'read limits' }
  | { readonly kind: 'store'; readonly isAway: boolean }
  | { readonly kind: 'redis'; readonly words: readonly string[] }
  | { readonly kind: 'statistics'; readonly names: readonly string[] }
  | { readonly kind: 'keys' | 'kept'; readonly names: readonly string[] }
  | { readonly kind: 'rules'; readonly rules: string }
);

const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 };

const ALL = ['memory', 'redis', 'two instances', 'two workers', 'leases', 'memcached'];
/** Set-ups that play only what names them. */
const NAMED = ['late instance'];

/**
 * Reads the scenarios of a file: `case TITLE` begins one. `rules` and `settings`, with indented lines below them, and `on SETUP,
 * SETUP` (or `on all`) hold for all that follow. `rules NAME` says another version of the rules, which the step `rules NAME` puts in
 * force, and `rules` the first one again.
 */
export function readScenarios(file: string, text: string): readonly Scenario[] {
  const scenarios: Scenario[] = [];
  let versions: Readonly<Record<string, string>> = {};
  let settings: Readonly<Record<string, string>> = {};
  let setups: readonly string[] = ALL;
  for (const [head, body] of blocksOf(text)) {
    const [word, ...rest] = head.split(' ');
    const more = rest.join(' ');
    if (word === 'rules')
      versions = { ...(more === '' ? {} : versions), [more]: withoutIndent(body) };
    else if (word === 'settings') settings = Object.fromEntries(body.map(toSetting));
    else if (word === 'on') setups = toSetups(more);
    else if (word === 'case') {
      const rules = versions[''] ?? '';
      for (const [title, lines] of casesOf(more, body)) {
        const steps = lines.map((line) => toStep(line.trim(), versions));
        scenarios.push({ title: `${file}: ${title}`, rules, settings, setups, steps });
      }
    } else throw new Error(`${file}: expected rules, settings, on or case: ${head}`);
  }
  return scenarios;
}

type Case = readonly [title: string, body: readonly string[]];

/** `TITLE {ONE, OTHER}`: a case for each of these, which stands in its lines for `{}`. */
export function casesOf(title: string, body: readonly string[]): readonly Case[] {
  const [, beginning = '', all] = /^(.*)\{(.*)\}$/.exec(title) ?? [];
  if (all === undefined) return [[title, body]];
  return all
    .split(', ')
    .map((one) => [`${beginning}${one}`, body.map((line) => line.replaceAll('{}', one))]);
}

function toSetups(words: string): readonly string[] {
  if (words === 'all') return ALL;
  const names = words.split(', ');
  const known = [...ALL, ...NAMED];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`expected some of ${known.join(', ')}: ${words}`);
  return names;
}

/** Lines at the margin, each with the indented ones below it; comments begin with `#`. */
export function blocksOf(
  text: string,
): readonly (readonly [head: string, body: readonly string[]])[] {
  const blocks: [string, string[]][] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.trim().startsWith('#')) continue;
    if (!line.startsWith(' ')) blocks.push([line, []]);
    else blocks.at(-1)?.[1].push(line);
  }
  return blocks;
}

export function withoutIndent(lines: readonly string[]): string {
  const least = Math.min(...lines.map((line) => line.search(/\S/)));
  return lines.map((line) => `${line.slice(least)}\n`).join('');
}

export function toSetting(line: string): readonly [name: string, value: string] {
  const [name = '', value = ''] = line.trim().split(/=(.*)/s);
  return [name, value];
}

/** Steps of one word, and those that are for the store. */
function toPlainStep(line: string): Step | undefined {
  const [word = '', ...rest] = line.split(' ');
  if (isAnswerPart(word)) return { line, kind: 'answer', part: word };
  if (hasNames(word))
    return { line, kind: word, names: rest.map((pair) => pair.split('=')[0] ?? '') };
  if (word === 'redis') return { line, kind: 'redis', words: rest };
  switch (line) {
    case 'store away':
    case 'store back':
      return { line, kind: 'store', isAway: line === 'store away' };
    case 'read limits':
      return { line, kind: line };
  }
  return undefined;
}

function isAnswerPart(word: string): word is AnswerPart {
  return ['headers', 'retry-after', 'body', 'metadata'].includes(word);
}

function hasNames(word: string): word is 'statistics' | 'keys' | 'kept' {
  return ['statistics', 'keys', 'kept'].includes(word);
}

/** `+90s`; undefined where it is something else. */
export function toSeconds(line: string): number | undefined {
  const wait = /^\+([\d.]+)(ms|s|m|h|d)$/.exec(line);
  return wait === null ? undefined : Number(wait[1]) * SECONDS[wait[2] as keyof typeof SECONDS];
}

function toStep(line: string, versions: Readonly<Record<string, string>>): Step {
  const seconds = toSeconds(line);
  if (seconds !== undefined) return { line, kind: 'wait', seconds };
  if (line.startsWith('at ')) return { line, kind: 'time', at: Date.parse(line.slice(3)) / 1_000 };
  const plain = toPlainStep(line);
  if (plain !== undefined) return plain;
  const [word, ...rest] = line.split(' ');
  const version = word === 'rules' ? versions[rest.join(' ')] : undefined;
  if (version !== undefined) return { line, kind: 'rules', rules: version };
  const [asked, expected] = line.split(' -> ');
  if (asked === undefined || expected === undefined)
    throw new Error(`expected a step of docs/internals/testing.md, or REQUEST -> ANSWER: ${line}`);
  return { line, kind: 'ask', asked, expected };
}
