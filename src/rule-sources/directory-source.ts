import { EMPTY } from 'rxjs';
import type { DebounceOptions } from '../../streams';
import type { DomainDefinition } from '../core/rules/definition';
import type { Clock } from '../core/ports';
import type { ParseOptions } from '../core/rules/parse/parse-rule-files';
import { followDirectory } from './directory/follow-directory';
import type { DirectoryOptions } from './directory/survey';
import { parseInWorker } from './loader/parse-in-worker';
import { createRuleLoader, type ParseRules } from './loader/rule-loader';
import type { CurrentOverlays } from './overlay-files';
import { parseRules } from './parse-rules';

export interface DirectorySourceOptions extends DirectoryOptions, ParseOptions {
  readonly maxBytes?: number;
  readonly pollMs?: number;
  readonly settle?: DebounceOptions;
  readonly loadTimeoutMs?: number;
}

export interface DirectorySourceDeps<R> {
  /** Compiles, pausing often: one slice runs per turn of the event loop. */
  readonly compile: (domains: readonly DomainDefinition[]) => Generator<unknown, R>;
  readonly clock: Clock;
  /** Called when the system cannot watch a directory; for the log. */
  readonly warn: (message: string) => void;
  /** Parses off the main thread; default: a thread with the built script. */
  readonly parse?: ParseRules;
  /** Default: there are none. */
  readonly overlays?: CurrentOverlays | undefined;
}

const DEFAULTS = {
  maxBytes: 16 * 1_024 * 1_024,
  pollMs: 5_000,
  settle: { quietMs: 75, maxMs: 1_000 },
  loadTimeoutMs: 60_000,
};

/** Parses on the calling thread, for small files and for tests. */
export const parseInProcess: ParseRules = (files, options) =>
  new Promise((resolve) => {
    resolve(parseRules(files, options));
  });

/**
 * The rule files of `root/subdirectory/appDirectory/*.yaml` as a stream of loads (docs/rule-files.md): the first at once on
 * subscribe, then one for each reload. Never errors and never completes; unsubscribing closes every watch and ends a load.
 */
export function createDirectorySource<R>(
  options: DirectorySourceOptions,
  { compile, clock, warn, parse, overlays }: DirectorySourceDeps<R>,
) {
  const load = createRuleLoader(
    {
      parse: parse ?? parseInWorker(),
      parseSmall: parseInProcess,
      compile,
      clock,
      overlays: overlays?.current,
    },
    {
      mergeDomains: options.mergeDomains,
      abilities: options.abilities,
      hasZone: options.hasZone,
      secretKeyIds: options.secretKeyIds,
    },
  );
  const again$ = overlays?.changed$ ?? EMPTY;
  return { loads$: followDirectory({ ...DEFAULTS, ...options }, { load, clock, warn, again$ }) };
}
