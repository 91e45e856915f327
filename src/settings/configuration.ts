import { boolean, oneOf, path, text } from '../platform/env-table/scalars';
import { setting } from './setting';

export const configurationTable = {
  type: setting('CONFIG_TYPE', oneOf('FILE', 'GRPC_XDS_SOTW', 'GRPC_XDS_DELTA'), {
    default: 'FILE',
    doc: 'where rules come from: files, or a management server by state of the world or by delta',
  }),
  forceStartWithoutInitialConfig: setting('FORCE_START_WITHOUT_INITIAL_CONFIG', boolean, {
    default: 'false',
    doc: 'true is healthy before the first load of the rules, but reads files that are there first; false is not, whatever the other settings say',
  }),
  runtimeRoot: setting('RUNTIME_ROOT', path, {
    default: '/srv/runtime_data/current',
    doc: 'root directory of the rule files',
  }),
  runtimeSubdirectory: setting('RUNTIME_SUBDIRECTORY', path, {
    doc: 'directory below RUNTIME_ROOT',
    whenUnset: 'none',
  }),
  runtimeAppDirectory: setting('RUNTIME_APPDIRECTORY', text, {
    default: 'config',
    emptyIsValue: true,
    doc: 'directory below RUNTIME_ROOT/RUNTIME_SUBDIRECTORY that holds the *.yaml files; may be empty',
  }),
  runtimeIgnoreDotFiles: setting('RUNTIME_IGNOREDOTFILES', boolean, {
    default: 'false',
    doc: 'true ignores files whose names start with a dot',
  }),
  runtimeWatchRoot: setting('RUNTIME_WATCH_ROOT', boolean, {
    default: 'true',
    deprecated: 'silent',
    doc: 'no effect: both a new target of RUNTIME_ROOT and changes in the directory reload',
  }),
  mergeDomains: setting('MERGE_DOMAIN_CONFIG', boolean, {
    default: 'false',
    doc: 'true allows several files with the same domain',
  }),
};
