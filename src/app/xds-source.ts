import type { Observable } from 'rxjs';
import type { LoadResult } from '../rule-sources/load-result';
import { createXdsSource } from '../rule-sources/xds-source';
import type { Clock, Random } from '../core/ports';
import type { DomainDefinition } from '../core/rules/definition';
import type { Rules } from '../core/rules/rules';
import type { Tokens } from '../core/rules/secrets';
import type { Logger } from '../platform/logger/logger';
import type { Settings } from '../settings/settings';
import { compileAndTell } from './compile-and-tell';
import type { OutageLog } from './outage-log';
import { storeAbilities } from './store-abilities';
import { toSecretKeyIds } from './to-options';

/** Entries compiled in one go: a fraction of a millisecond. */
const SLICE = 250;

/** The name of its outage. */
const STREAM = 'stream';

export interface ManagementServerDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly outages: OutageLog;
  readonly tokens: Tokens;
  /** Told what each set of rules was compiled from. */
  readonly onCompiled?: ((rules: Rules, domains: readonly DomainDefinition[]) => void) | undefined;
}

/** The loads of the rules that the management server of the settings sends. */
export function managementServerLoads(
  settings: Settings,
  { clock, random, logger, outages, tokens, onCompiled }: ManagementServerDeps,
): Observable<LoadResult<Rules>> {
  const { configuration, decisions, xds } = settings;
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
      mergeDomains: configuration.mergeDomains,
      abilities: storeAbilities(settings),
      secretKeyIds: toSecretKeyIds(settings.secrets),
    },
    {
      compile: (domains) => compileAndTell(domains, SLICE, { ...decisions, tokens }, onCompiled),
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
  ).loads$;
}
