import { randomUUID } from 'node:crypto';
import { relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSnapshot } from '../../../streams';
import { type Decisions, createJsonDecisions } from '../../identity/limits/decisions';
import { createLimits, NO_LIMITS } from '../../identity/limits/limits';
import {
  createIdentityService,
  type IdentityService,
} from '../../identity/service/create-identity-service';
import { createMetrics } from '../../identity/service/metrics';
import { ByteBudget } from '../../platform/byte-budget';
import { HttpTurns } from '../../platform/http-turns';
import { addressText } from '../../platform/listen-address';
import { monotonicMs } from '../../platform/clock';
import { createLogger, type Logger } from '../../platform/logger';
import type { Settings } from '../../settings/settings';
import { toReason } from '../../platform/errors';
import { runToCompletion } from '../actor';
import { runProcess, type Lifecycle } from '../process/run-process';
import { chooseIdentityStore, localName } from './choose-store';
import type { IdentitySettings, JwtSettings } from '../../settings/identity';
import type { InProcessDecisions } from './in-process-decisions';
import { lazy } from './lazy';
import type { JwtVerifier } from '../../identity/jwt/jwt-verifier';

const MAX_BLOCKED_ADDRESSES = 10_000;
/** Time limit of a stop: less than Kubernetes' usual 30 s. */
const STOP_WITHIN_MS = 20_000;
const DRAIN_MS = 5_000;
/** Existing rules are loaded before the first request; missing rules delay the port by this. */
const FIRST_RULES_MS = 1_000;
/** Interval of reports about an unreachable limiter. */
const LIMITER_LOG_EVERY_MS = 10_000;

/** Runs the identity service until a signal stops it. */
export async function serve(
  process: NodeJS.Process,
  settings: Settings,
  warnings: readonly string[],
): Promise<void> {
  const logger = createLogger(settings.logging);
  const service = runProcess(process, logger, STOP_WITHIN_MS, () =>
    assemble(settings, warnings, logger),
  );
  await Promise.race([service.ready, delay(FIRST_RULES_MS, undefined, { ref: false })]);
  const port = await service.listen();
  const { host } = settings.identity;
  // A warning, so that it is logged at the default level.
  logger.warn(`listening for identity on ${host}:${String(port)}`);
  if (settings.logging.format === 'text')
    process.stdout.write(
      banner(`http://${localName(host)}:${String(port)}`, settings, commandOf(process)),
    );
}

/** The service and the decisions in its process, as one. */
function assemble(settings: Settings, warnings: readonly string[], logger: Logger) {
  for (const warning of warnings) logger.warn(warning);
  const lifecycle = createSnapshot<Lifecycle>('starting');
  const decisions = chooseDecisions(settings, logger);
  const service = createService(settings, decisions, logger);
  const inProcess = decisions !== undefined && 'done' in decisions ? decisions : undefined;
  return {
    lifecycle,
    ready: inProcess?.ready,
    done: Promise.all([runToCompletion(service.run$), inProcess?.done]),
    async listen() {
      const port = await service.listen();
      if (lifecycle.current === 'starting') lifecycle.set('serving');
      return port;
    },
    async stop() {
      lifecycle.set('draining');
      await service.close(DRAIN_MS);
      lifecycle.set('stopped');
    },
  };
}

function createService(
  settings: Settings,
  decisions: Decisions | undefined,
  logger: Logger,
): IdentityService {
  const { host, port, metricsAddress, corsOrigins, trustedProxies, ...identity } =
    settings.identity;
  const { maxHeldBytes, maxConnections } = settings.bounds;
  const metrics = createMetrics();
  const store = chooseIdentityStore(settings, logger);
  const jwt = chooseJwtVerifier(identity.jwt, logger);
  const tell = createSeldomWarning(logger);
  const onFailure = (error: unknown) => {
    metrics.limiterFailure();
    tell(error);
  };
  const limits =
    decisions === undefined
      ? NO_LIMITS
      : createLimits(
          { decisions, monotonicMs, onFailure },
          { failure: identity.rateLimitFailure, maxBlocked: MAX_BLOCKED_ADDRESSES },
        );
  return createIdentityService(
    { store, jwt, limits, metrics, logger, monotonicMs, createRequestId: randomUUID },
    {
      address: { host, port },
      metricsAddress,
      limits: { budget: new ByteBudget(maxHeldBytes), maxConnections, turns: new HttpTurns() },
      corsOrigins: corsOrigins ?? [],
      trustedProxies: trustedProxies ?? [],
      profile: identity.userinfoProfile,
    },
  );
}

function createSeldomWarning(logger: Logger): (error: unknown) => void {
  let lastMs = -Infinity;
  return (error) => {
    if (monotonicMs() - lastMs < LIMITER_LOG_EVERY_MS) return;
    lastMs = monotonicMs();
    logger.warn('rate limit decision unavailable', { reason: toReason(error) });
  };
}

/** How to run another command of this binary. */
function commandOf(process: NodeJS.Process): string {
  const [, script = ''] = process.argv;
  return script.endsWith('.js') ? `node ${relative(process.cwd(), script)}` : 'identity';
}

function banner(url: string, { identity }: Settings, command: string): string {
  const where = identity.store === 'embedded' ? identity.storeFile : 'Redis';
  return [
    '',
    `  identity  ${url}/v1/userinfo`,
    `  users in  ${where}`,
    '',
    '  With the same settings, for a user, a token and a line to try:',
    '',
    `  ${command} demo`,
    '',
    '',
  ].join('\n');
}

const DEFAULT_PORT = { grpc: 8081, json: 8080 } as const;

/** The service that decides limits; undefined: none. */
function chooseDecisions(
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
  const address = rateLimitAddress ?? { host: 'localhost', port: defaultPort };
  return { target: addressText(address), timeoutMs: rateLimitTimeoutMs };
}

/** Leaves time for a 503 within a second, after the time-out of the limits. */
const LOAD_WITHIN_MS = 600;
const REFRESH_URL_MS = 300_000;
/** A file is cheap to read again. */
const REFRESH_FILE_MS = 5_000;

/** The verifier of JWT access tokens; undefined: they are not accepted. */
function chooseJwtVerifier(
  settings: JwtSettings | undefined,
  logger: Logger,
): JwtVerifier | undefined {
  if (settings === undefined) return undefined;
  const { keys: source } = settings;
  const { createKeySet, loadKeysByUrl, loadKeysFromFile } = lazy.keySet();
  const { load, options } =
    source.kind === 'url'
      ? {
          load: loadKeysByUrl(source.url, LOAD_WITHIN_MS),
          options: { name: source.url, refreshMs: REFRESH_URL_MS },
        }
      : {
          load: loadKeysFromFile(source.file),
          options: { name: source.file, refreshMs: REFRESH_FILE_MS },
        };
  const keys = createKeySet({ load, monotonicMs, logger }, options);
  return lazy.jwtVerifier().createJwtVerifier({ keys, nowMs: Date.now }, settings);
}
