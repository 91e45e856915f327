import type { Observable } from 'rxjs';
import type { LoadResult } from '../config/load-result';
import { createXdsSource } from '../config/xds-source';
import type { Clock, Random } from '../core/ports';
import { compileInSlices } from '../core/rules/compile';
import type { Rules } from '../core/rules/rules';
import type { Logger } from '../platform/logger/logger';
import type { Settings } from '../settings/settings';

/** Entries compiled in one go: a fraction of a millisecond. */
const SLICE = 250;

export interface ManagementServerDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The loads of the rules that the management server of the settings sends. */
export function managementServerLoads(
  { configuration, xds }: Settings,
  { clock, random, logger }: ManagementServerDeps,
): Observable<LoadResult<Rules>> {
  const { serverTarget, maxMessageSizeBytes, additionalHeaders, ...rest } = xds;
  return createXdsSource(
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
      warn: (message) => {
        logger.warn(message);
      },
    },
  ).loads$;
}
