import { Composer } from 'yaml';
import { parseTokens } from '../rule-sources/yaml/locate';
import { readComposeFile } from './compose-file';
import { isEnvFile, readEnvFile } from './env-file';
import { fieldsOf, type YamlFields } from './fields';
import { readManifests } from './kubernetes-file';
import type { Deployment } from './workload';

/** Maximal number of expanded aliases in a document. */
const MAX_ALIASES = 1_000;

/** Reads manifests of Kubernetes, a composition, or a file of settings. A string is the reason why it cannot be read. */
export function readDeployment(text: string): Deployment | string {
  if (isEnvFile(text)) return readEnvFile(text);
  const documents = readYaml(text);
  if (typeof documents === 'string') return documents;
  const [first] = documents;
  if (first !== undefined && 'services' in first && first['kind'] === undefined)
    return readComposeFile(first);
  if (documents.length > 0) return readManifests(documents);
  return 'expected a manifest of Kubernetes, a composition or a file of NAME=value';
}

function readYaml(text: string): readonly YamlFields[] | string {
  const parsed = parseTokens(text);
  if ('tooDeepAt' in parsed) return 'lists and maps are nested too deep';
  const documents = new Composer({ merge: true }).compose(parsed.tokens, true, text.length);
  const found: YamlFields[] = [];
  for (const document of documents) {
    const [error] = document.errors;
    if (error !== undefined) {
      const line = text.slice(0, error.pos[0]).split('\n').length;
      // The library's message quotes the text, which may contain a secret.
      return `not valid YAML (${error.code}) in line ${String(line)} or near it: expected rendered manifests, not a template`;
    }
    try {
      const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
      if (value !== null && value !== undefined) found.push(fieldsOf(value));
    } catch {
      return 'an alias of the YAML is unknown, or there are too many';
    }
  }
  return found;
}
