import { ignoreElements, merge, type Observable } from 'rxjs';
import type { LoadResult } from '../config/load-result';
import { createXdsSource } from '../config/xds-source';
import type { Clock, Random } from '../core/ports';
import { compileInSlices } from '../core/rules/compile';
import type { Rules } from '../core/rules/rules';
import type { Logger } from '../platform/logger/logger';
import type { Settings } from '../settings/settings';
import { createOutageLog } from './outage-log';

/** Entries compiled in one go: a fraction of a millisecond. */
const SLICE = 250;

/** The name of its outage. */
const STREAM = 'stream';

export interface ManagementServerDeps {
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly logger: Logger;
}

/** The loads of the rules that the management server of the settings sends. */
export function managementServerLoads(
  { configuration, xds }: Settings,
  { clock, monotonicMs, random, logger }: ManagementServerDeps,
): Observable<LoadResult<Rules>> {
  const { serverTarget, maxMessageSizeBytes, additionalHeaders, ...rest } = xds;
  const outages = createOutageLog({ logger, monotonicMs });
  const lines = {
    level: 'warn',
    failing: `no stream to the management server at ${serverTarget}, trying again`,
    ended: `connected to the management server at ${serverTarget} again`,
  } as const;
  const { loads$ } = createXdsSource(
    {
      ...rest,
      protocol: configuration.type === 'GRPC_XDS_DELTA' ? 'delta' : 'state-of-the-world',
      target: serverTarget,
      maxMessageBytes: maxMessageSizeBytes,
      headers: additionalHeaders,
      mergeDomains: configuration.mergeDomains,
    },
    {
      compile: (domains) => compileInSlices(domains, SLICE),
      clock,
      random,
      onStream(event) {
        const { kind, ...fields } = event;
        if (kind === 'lost') {
          outages.failed(STREAM, lines, fields);
          return;
        }
        logger.info(`connected to the management server at ${serverTarget}`);
        outages.worked(STREAM);
      },
    },
  );
  return merge(outages.run$.pipe(ignoreElements()), loads$);
}
