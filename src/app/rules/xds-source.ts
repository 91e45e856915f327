import type { Observable } from 'rxjs';
import type { LoadResult } from '../../rule-sources/load-result';
import { createXdsSource } from '../../rule-sources/xds-source';
import type { Clock, Random } from '../../core/ports';
import type { Rules } from '../../core/rules/rules';
import type { Logger } from '../../platform/logger';
import type { Settings } from '../../settings/settings';
import type { CurrentOverlays } from '../../rule-sources/overlay-files';
import type { OutageLog } from '../outage-log';
import { createCompile, toLoadOptions, type CompileDeps } from './load-options';

/** Entries compiled per slice: a fraction of a millisecond. */
const SLICE = 250;

/** The name of the outage. */
const STREAM = 'stream';

export interface ManagementServerDeps extends CompileDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly outages: OutageLog;
}

export function managementServerLoads(
  settings: Settings,
  { clock, random, logger, outages, ...deps }: ManagementServerDeps,
  overlays: CurrentOverlays | undefined,
): Observable<LoadResult<Rules>> {
  const { configuration, xds } = settings;
  const { serverTarget, maxMessageSizeBytes, additionalHeaders, ...rest } = xds;
  const lines = {
    level: 'warn',
    failing: `no stream to the management server at ${serverTarget}, trying again`,
    ended: `connected to the management server at ${serverTarget} again`,
  } as const;
  return createXdsSource(
    {
      ...rest,
      protocol: configuration.type === 'GRPC_XDS_DELTA' ? 'delta' : 'state-of-the-world',
      target: serverTarget,
      maxMessageBytes: maxMessageSizeBytes,
      headers: additionalHeaders,
      ...toLoadOptions(settings, deps),
    },
    {
      compile: createCompile(SLICE, settings, { ...deps, logger }),
      clock,
      random,
      overlays,
      onStream(event) {
        const { kind, ...fields } = event;
        if (kind === 'lost') {
          outages.failed(STREAM, lines, fields);
          return;
        }
        logger.info(`connected to the management server at ${serverTarget}`);
        outages.succeeded(STREAM);
      },
    },
  ).loads$;
}
