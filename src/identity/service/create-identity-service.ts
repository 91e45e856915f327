import type { RequestListener } from 'node:http';
import type { Observable } from 'rxjs';
import { createHttpListener, type HttpLimits } from '../../platform/http-listener';
import { listenAt } from '../../platform/listen-address';
import type { Logger } from '../../platform/logger/logger';
import type { Network } from '../../platform/proxy-hops';
import type { JwtVerifier } from '../jwt/jwt-verifier';
import type { Limits } from '../limits/limits';
import type { IdentityStore } from '../store/store';
import type { UserinfoProfile } from './answers';
import { createClientAddress } from './client-address';
import { createHandler } from './create-handler';
import { createMetricsHandler, type Metrics } from './metrics';
import { createReject } from './reject';
import { createUserinfo } from './userinfo';

const SETTINGS = { host: 'IDENTITY_HOST', port: 'IDENTITY_PORT' };
const METRICS_SETTINGS = { host: 'IDENTITY_METRICS_ADDR', port: 'IDENTITY_METRICS_ADDR' };

export interface IdentityServiceDeps {
  readonly store: IdentityStore;
  /** Undefined: JWT access tokens are not taken. */
  readonly jwt: JwtVerifier | undefined;
  readonly limits: Limits;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly createRequestId: () => string;
}

/** Port 0: any free one; no host: every address. */
interface Address {
  readonly host: string | undefined;
  readonly port: number;
}

export interface IdentityServiceOptions {
  readonly address: Address;
  /** The port for operators; undefined: none. */
  readonly metricsAddress: Address | undefined;
  /** Of both ports. */
  readonly limits: HttpLimits;
  readonly corsOrigins: readonly string[];
  readonly trustedProxies: readonly Network[];
  readonly profile: UserinfoProfile;
}

export interface IdentityService {
  /** All that runs by itself; completes after `close`. */
  readonly run$: Observable<never>;
  /** Opens the store and the ports; settles with the port of the service. */
  listen(): Promise<number>;
  /** Answers what is in flight, then lets go of limits and store. Safe to call twice. */
  close(withinMs: number): Promise<void>;
}

/** The identity service: `GET /v1/userinfo` on its own listener (behaviour.md §7). */
export function createIdentityService(
  deps: IdentityServiceDeps,
  options: IdentityServiceOptions,
): IdentityService {
  const { store, jwt, limits, metrics, createRequestId } = deps;
  const clientAddress = createClientAddress(options.trustedProxies, deps.logger);
  const userinfo = createUserinfo({ store, jwt, limits, clientAddress });
  const handler = createHandler({ ...deps, userinfo }, options);
  const reject = createReject(createRequestId);
  const serve = (handle: RequestListener, { host = '', port }: Address) =>
    createHttpListener(
      { handle, takesBodies: false, reject, isVital: ({ url }) => url === '/healthcheck' },
      { host, port, limits: options.limits },
    );
  const listener = serve(handler, options.address);
  const operators =
    options.metricsAddress === undefined
      ? undefined
      : serve(createMetricsHandler(metrics, store), options.metricsAddress);
  let closed: Promise<void> | undefined;

  const close = async (withinMs: number): Promise<void> => {
    await listener.close(withinMs);
    await operators?.close(withinMs);
    await limits.close();
    await store.close();
  };

  return {
    run$: store.run$,
    async listen() {
      await store.open();
      if (operators !== undefined) await listenAt(operators, METRICS_SETTINGS);
      const { port } = await listenAt(listener, SETTINGS);
      return port;
    },
    close: (withinMs) => (closed ??= close(withinMs)),
  };
}
