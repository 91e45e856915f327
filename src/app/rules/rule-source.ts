import type { Observable } from 'rxjs';
import {
  directoryOf,
  type DirectoryOptions,
  type Takes,
} from '../../rule-sources/directory/survey';
import { createDirectorySource } from '../../rule-sources/directory-source';
import type { LoadResult } from '../../rule-sources/load-result';
import type { RulesVersion } from '../../core/explain/explanation';
import type { Rules } from '../../core/rules/rules';
import { readsBeside } from '../../settings/configuration';
import type { Settings } from '../../settings/settings';
import { createCompile, toLoadOptions, type CompileDeps } from './load-options';
import type { CurrentOverlays } from '../../rule-sources/overlay-files';
import { loadsWithOverlays, type OverlaysDeps } from './overlays';
import type * as XdsSource from './xds-source';
import type { ManagementServerDeps } from './xds-source';

const loadXdsSource = () => require('./xds-source') as typeof XdsSource;

/** Entries compiled per slice: a fraction of a millisecond. */
const SLICE = 500;

/** The loads of the rules from the source in the settings: files, or a management server. */
export function ruleLoads(
  settings: Settings,
  deps: ManagementServerDeps & OverlaysDeps,
): Observable<LoadResult<Rules>> {
  const { type, overlays: path } = settings.configuration;
  const loadsWith$ = (overlays?: CurrentOverlays) =>
    type === 'FILE'
      ? directoryLoads(settings, deps, overlays)
      : loadXdsSource().managementServerLoads(settings, deps, overlays);
  return path === undefined ? loadsWith$() : loadsWithOverlays(path, deps, loadsWith$);
}

/** The name of the source in explanations and metrics. */
export function ruleSourceKind({ configuration }: Settings): RulesVersion['source'] {
  return configuration.type === 'FILE' ? 'files' : 'xds';
}

/** The source of the rules, for the log. */
export function describeRuleSource({ configuration, xds }: Settings): string {
  if (configuration.type !== 'FILE') return `management server at ${xds.serverTarget}`;
  return directoryOf(toPlace(configuration));
}

/** Where rule files are, and which of them count, by the settings. */
export function toPlace(configuration: Settings['configuration']): DirectoryOptions {
  return {
    root: configuration.runtimeRoot,
    subdirectory: configuration.runtimeSubdirectory ?? '',
    appDirectory: configuration.runtimeAppDirectory,
    ignoreDotFiles: configuration.runtimeIgnoreDotFiles,
    takes: takesOf(configuration),
    fileOr: 'the directory of rule files',
  };
}

/** The reference reads nothing where RUNTIME_APPDIRECTORY is empty, so other files may lie beside rules there. */
function takesOf(configuration: Settings['configuration']): Takes {
  if (configuration.runtimeAppDirectory === '') return 'named';
  return readsBeside(configuration) ? 'dotted' : 'any';
}

function directoryLoads(
  settings: Settings,
  { clock, logger, ...deps }: CompileDeps & Pick<ManagementServerDeps, 'clock' | 'logger'>,
  overlays: CurrentOverlays | undefined,
): Observable<LoadResult<Rules>> {
  return createDirectorySource(
    { ...toPlace(settings.configuration), ...toLoadOptions(settings, deps) },
    {
      compile: createCompile(SLICE, settings, { ...deps, logger }),
      clock,
      overlays,
      warn: (message) => {
        logger.warn(message);
      },
    },
  ).loads$;
}
