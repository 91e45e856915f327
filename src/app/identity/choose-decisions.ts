import type { Decisions } from '../../identity/limits/decisions';
import { createJsonDecisions } from '../../identity/limits/json-decisions';
import type { Logger } from '../../platform/logger/logger';
import type { IdentitySettings } from '../../settings/identity';
import type { Settings } from '../../settings/settings';
import type { InProcessDecisions } from './in-process-decisions';
import { lazy } from './lazy';

const DEFAULT_PORT = { grpc: 8081, json: 8080 } as const;

/** The service that decides limits; undefined: none. */
export function chooseDecisions(
  settings: Settings,
  logger: Logger,
): Decisions | InProcessDecisions | undefined {
  const { rateLimit } = settings.identity;
  if (rateLimit === 'off') return undefined;
  if (rateLimit === 'process') return lazy.inProcess().createInProcessDecisions(settings, logger);
  const options = toRemoteOptions(settings.identity, DEFAULT_PORT[rateLimit]);
  return rateLimit === 'grpc'
    ? lazy.grpcDecisions().createGrpcDecisions(options)
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
