import type { TableReading } from '../platform/env-table/table';
import { boolean, oneOf, path, text } from '../platform/env-table/parsers';
import { optional, setting } from './setting';

export const configurationTable = {
  type: setting('CONFIG_TYPE', oneOf('FILE', 'GRPC_XDS_SOTW', 'GRPC_XDS_DELTA'), 'FILE', {
    doc: 'where rules come from: files, or a management server by state of the world or by delta',
  }),
  forceStartWithoutInitialConfig: setting('FORCE_START_WITHOUT_INITIAL_CONFIG', boolean, 'false', {
    doc: 'true is healthy before the first load of the rules, but reads files that are there first; false is not, whatever the other settings say',
  }),
  runtimeRoot: setting('RUNTIME_ROOT', path, '/srv/runtime_data/current', {
    doc: 'root directory of the rule files',
  }),
  runtimeSubdirectory: optional('RUNTIME_SUBDIRECTORY', path, 'none', {
    doc: 'directory below RUNTIME_ROOT',
  }),
  runtimeAppDirectory: setting('RUNTIME_APPDIRECTORY', text, 'config', {
    emptyIsValue: true,
    doc: 'directory below RUNTIME_ROOT/RUNTIME_SUBDIRECTORY that holds the rule files; may be empty',
  }),
  runtimeIgnoreDotFiles: setting('RUNTIME_IGNOREDOTFILES', boolean, 'false', {
    doc: 'true ignores files whose names start with a dot',
  }),
  runtimeWatchRoot: setting('RUNTIME_WATCH_ROOT', boolean, 'true', {
    doc: 'true also reads files beside the directory whose name begins with its name and a dot (config.yaml); false reads the directory, or the file in its place; both reload after a new target of RUNTIME_ROOT and after changes',
  }),
  overlays: optional('RULE_OVERLAYS', path, 'rules are as their source has them', {
    doc: 'file or directory of overlays, which give rules of files and of a management server further fields (docs/rules/overlays.md); watched and reloaded',
  }),
  mergeDomains: setting('MERGE_DOMAIN_CONFIG', boolean, 'false', {
    doc: 'true allows several files with the same domain',
  }),
};

type Configuration = TableReading<typeof configurationTable>;

/** Whether files beside the directory count too: with RUNTIME_WATCH_ROOT, where the directory has a single name. */
export function readsBeside({
  runtimeWatchRoot,
  runtimeAppDirectory: name,
}: Configuration['values']): boolean {
  return runtimeWatchRoot && !['', '.', '..'].includes(name) && !name.includes('/');
}

/**
 * Warns where envoyproxy/ratelimit reads no rules and allows every request: limits take effect when this service replaces it. An
 * operator who configures no rules has no deployment to replace.
 */
export function warnOfUnreadThere(reading: Configuration): void {
  const { values } = reading;
  if (values.type !== 'FILE' || !reading.isSet('runtimeRoot')) return;
  const reason = unreadReason(reading);
  if (reason === undefined) return;
  reading.warn(
    `${reason}: envoyproxy/ratelimit reads no rules then and allows every request; here they are read, and their limits hold`,
  );
}

function unreadReason({ values, describe }: Configuration): string | undefined {
  const { runtimeWatchRoot, runtimeAppDirectory, runtimeSubdirectory = '' } = values;
  if (runtimeAppDirectory === '') return describe('runtimeAppDirectory');
  if (!runtimeWatchRoot) return undefined;
  const unlessWatched = 'without RUNTIME_WATCH_ROOT=false';
  if (runtimeSubdirectory === '') return `RUNTIME_SUBDIRECTORY is not set, ${unlessWatched}`;
  return readsBeside(values) ? undefined : `${describe('runtimeAppDirectory')} ${unlessWatched}`;
}

export const secretsTable = {
  keysFile: optional('SECRET_KEYS_FILE', path, 'rules with hash_value: true are refused', {
    doc: 'file of the keys under which hash_value: true hides secret values (docs/secrets.md), watched',
  }),
};

export const timeZonesTable = {
  folder: optional('TZDIR', path, '/usr/share/zoneinfo', {
    doc: 'folder of the TZif files of the system, which calendar periods follow where they are the newest (docs/rules.md)',
  }),
};
