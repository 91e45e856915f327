import { type Environment, isServiceLink } from '../platform/env-table/read-table';
import { backendTable } from './backend';
import { configurationTable } from './configuration';
import { memstoreTable } from './memstore';
import { kvstoreTable } from './store';

/** The settings for the location of rules and counters: whoever sets one of them deploys by the environment. */
const PLACES = [
  configurationTable.runtimeRoot,
  configurationTable.type,
  backendTable.type,
  kvstoreTable.url,
  memstoreTable.nodes,
  memstoreTable.srv,
];

const NAMES = PLACES.flatMap(({ name, aliases }) => [name, ...aliases]);

export function deploysBySettings(env: Environment): boolean {
  return NAMES.some((name) => {
    const text = env[name] ?? '';
    return text !== '' && !isServiceLink(name, text);
  });
}
