import type { Decisions } from '../../identity/limits/decisions';
import type * as GrpcDecisions from '../../identity/limits/grpc-decisions';
import { createJsonDecisions } from '../../identity/limits/json-decisions';
import type { Logger } from '../../platform/logger/logger';
import type { IdentitySettings } from '../../settings/identity';
import type { Settings } from '../../settings/settings';
import type * as InProcess from './in-process-decisions';
import type { InProcessDecisions } from './in-process-decisions';

const DEFAULT_PORT = { grpc: 8081, json: 8080 } as const;

/** The service that decides limits; undefined: none. */
export function chooseDecisions(
  settings: Settings,
  logger: Logger,
): Decisions | InProcessDecisions | undefined {
  const { rateLimit } = settings.identity;
  if (rateLimit === 'off') return undefined;
  if (rateLimit === 'process') return loadInProcess().createInProcessDecisions(settings, logger);
  const options = toRemoteOptions(settings.identity, DEFAULT_PORT[rateLimit]);
  return rateLimit === 'grpc'
    ? loadGrpc().createGrpcDecisions(options)
    : createJsonDecisions(options);
}

function toRemoteOptions(
  { rateLimitAddress, rateLimitTimeoutMs }: IdentitySettings,
  defaultPort: number,
) {
  const { host, port } = rateLimitAddress ?? { host: 'localhost', port: defaultPort };
  const name = host.includes(':') ? `[${host}]` : host;
  return { target: `${name}:${String(port)}`, timeoutMs: rateLimitTimeoutMs };
}

/** Loaded only when they are used: start-up time. */
function loadInProcess(): typeof InProcess {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- late on purpose
  return require('./in-process-decisions') as typeof InProcess;
}

function loadGrpc(): typeof GrpcDecisions {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- late on purpose
  return require('../../identity/limits/grpc-decisions') as typeof GrpcDecisions;
}
