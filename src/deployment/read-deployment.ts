import { Composer } from 'yaml';
import { parseTokens, textOfBytes } from '../rule-sources/yaml/read-rule-file';
import { readComposeFile } from './compose-file';
import { isMap, type Deployment, toGiven, type GivenValue } from './workload';
import { readManifests } from './kubernetes-file';

/** Maximal number of expanded aliases in a document. */
const MAX_ALIASES = 1_000;

/** Reads manifests of Kubernetes, a composition, or a file of settings. A string is the reason why it cannot be read. */
export function readDeployment(bytes: Uint8Array): Deployment | string {
  const text = textOfBytes(bytes);
  if (text === undefined || text.includes('\0')) return notOne('no text in UTF-8 or UTF-16');
  if (isEnvFile(text)) return readEnvFile(text);
  const values = readYaml(text);
  if (typeof values === 'string') return values;
  const documents = values.filter(isMap);
  const others = values.filter((value) => !isMap(value)).map(describeValue);
  const [first] = documents;
  if (first === undefined) return notOne(others[0] ?? 'nothing');
  const isComposition = 'services' in first || 'include' in first;
  if (isComposition && first['kind'] === undefined) return readComposeFile(first);
  const { workloads, skipped } = readManifests(documents);
  const more = others.map((found) => `a document is skipped: it holds ${found}, no object`);
  return { workloads, skipped: [...skipped, ...more] };
}

function notOne(found: string): string {
  return `the file holds ${found}: expected a manifest of Kubernetes, a composition or a file of NAME=value`;
}

function describeValue(value: unknown): string {
  return Array.isArray(value) ? 'a list' : `a ${typeof value === 'string' ? 'text' : typeof value}`;
}

function readYaml(text: string): readonly unknown[] | string {
  const parsed = parseTokens(text);
  if ('tooDeepAt' in parsed) return 'lists and maps are nested too deep';
  const documents = new Composer({ merge: true }).compose(parsed.tokens, true, text.length);
  const found: unknown[] = [];
  for (const document of documents) {
    const [error] = document.errors;
    if (error !== undefined) {
      const line = text.slice(0, error.pos[0]).split('\n').length;
      // The library's message quotes the text, which may contain a secret.
      return `not valid YAML (${error.code}) in line ${String(line)} or near it: expected rendered manifests, not a template`;
    }
    try {
      const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
      if (value !== null && value !== undefined) found.push(value);
    } catch {
      return 'an alias of the YAML is unknown, or there are too many';
    }
  }
  return found;
}

const LINE = /^\s*(?:export\s+)?([A-Za-z_]\w*)=(.*)$/;
const COMMENT = /^\s*(?:#|$)/;

/** Files from Windows end their lines with CR LF. */
const LINE_END = /\r?\n/;

/** Whether a text is a list of settings, one per line, instead of YAML. */
function isEnvFile(text: string): boolean {
  const first = text.split(LINE_END).find((line) => !COMMENT.test(line));
  return first !== undefined && LINE.test(first);
}

/** Reads `NAME=value`, one per line, as a shell or a composition does. */
function readEnvFile(text: string): Deployment {
  const env = new Map<string, GivenValue>();
  const skipped: string[] = [];
  text.split(LINE_END).forEach((line, at) => {
    if (COMMENT.test(line)) return;
    const [, name, value = ''] = LINE.exec(line.trimEnd()) ?? [];
    if (name === undefined) skipped.push(`line ${String(at + 1)}: skipped, expected NAME=value`);
    else env.set(name, toGiven(value.replace(/^(["'])(.*)\1$/, '$2')));
  });
  return { workloads: [{ name: 'environment', env, words: [], mounts: undefined }], skipped };
}
