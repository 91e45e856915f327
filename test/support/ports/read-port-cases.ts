import { blocksOf, casesOf, toSetting, withoutIndent } from '../scenario/read-scenarios';
import type { AppSetup } from './played-app';

/** A case of `test/scenarios/ports`: what is asked of the ports, and what comes back (docs/internals/testing.md, "Ports"). */
export interface PortCase extends AppSetup {
  readonly title: string;
  /** Other versions of the rules, by their names. */
  readonly versions: Readonly<Record<string, string>>;
  /** As they stand in the file. */
  readonly lines: readonly string[];
}

const PLACES: Readonly<Record<string, Texts>> = {
  wire: {},
  'grpc-js': { GRPC_TRANSPORT: 'grpc-js' },
  memory: {},
  redis: { KVSTORE_URL: 'near' },
};

type Texts = Readonly<Record<string, string>>;

/**
 * `rules`, `settings` and `file NAME`, with indented lines below them, and `let NAME TEXT` hold for all cases that follow; `anew`
 * forgets them. `on wire, grpc-js` plays the cases by both engines of gRPC, `on memory, redis` in both stores.
 */
export function readPortCases(name: string, text: string): readonly PortCase[] {
  const cases: PortCase[] = [];
  let versions: Texts = {};
  let settings: Texts = {};
  let files: Texts = {};
  let words: Texts = {};
  let places: readonly string[] = ['wire'];
  const take: Readonly<Record<string, (more: string, body: readonly string[]) => void>> = {
    anew: () => {
      [versions, settings, files] = [{}, {}, {}];
    },
    rules: (more, body) => {
      versions = { ...(more === '' ? {} : versions), [more]: withoutIndent(body) };
    },
    settings: (_, body) => {
      settings = Object.fromEntries(body.map(toSetting));
    },
    file: (more, body) => {
      files = { ...files, [more]: withoutIndent(body) };
    },
    let: (more) => {
      const [word = '', meaning = ''] = more.split(/ (.*)/s);
      words = { ...words, [word]: replaceWords(meaning, words) };
    },
    on: (more) => {
      places = more.split(', ');
    },
    case: (more, body) => {
      for (const place of places)
        for (const [title, lines] of casesOf(more, body))
          cases.push({
            title: `${name}: ${title}${places.length > 1 ? `, ${place}` : ''}`,
            rules: versions[''] ?? '',
            lines: lines.map((line) => replaceWords(line.trim(), words)),
            ...{ versions, files, settings: { ...settings, ...PLACES[place] } },
          });
    },
  };
  for (const [head, body] of blocksOf(text)) {
    const [word = '', more = ''] = head.split(/ (.*)/s);
    const block = take[word];
    if (block === undefined)
      throw new Error(`${name}: expected one of ${Object.keys(take).join(', ')}: ${head}`);
    block(more, body);
  }
  return cases;
}

/** `$NAME` stands for what `let NAME` says. */
function replaceWords(text: string, words: Texts): string {
  return text.replace(/\$([A-Z_]+)/g, (word, name: string) => words[name] ?? word);
}
