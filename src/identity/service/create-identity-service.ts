import { type RequestListener, STATUS_CODES } from 'node:http';
import type { Observable } from 'rxjs';
import {
  createHttpListener,
  type HttpLimits,
  describeRejection,
  type Reject,
  type RejectStatus,
} from '../../platform/http-listener';
import { listenAt } from '../../platform/listen-address';
import type { Network } from '../../platform/proxy-hops';
import type { JwtVerifier } from '../jwt/jwt-verifier';
import type { Limits } from '../limits/limits';
import type { IdentityStore } from '../store/store';
import { errorAnswer } from './answers';
import { createClientAddress } from './client-address';
import { createHandler, type HandlerDeps, type HandlerOptions } from './create-handler';
import { createMetricsHandler } from './metrics';
import { createUserinfo } from './userinfo';
import type { ErrorCode } from '../contract/errors';

const SETTINGS = { host: 'IDENTITY_HOST', port: 'IDENTITY_PORT' };
const METRICS_SETTINGS = { host: 'IDENTITY_METRICS_ADDR', port: 'IDENTITY_METRICS_ADDR' };

export interface IdentityServiceDeps extends Omit<HandlerDeps, 'userinfo'> {
  readonly store: IdentityStore;
  /** Undefined: JWT access tokens are not accepted. */
  readonly jwt: JwtVerifier | undefined;
  readonly limits: Limits;
}

/** Port 0: any free one; no host: every address. */
interface Address {
  readonly host: string | undefined;
  readonly port: number;
}

export interface IdentityServiceOptions extends HandlerOptions {
  readonly address: Address;
  /** The port for operators; undefined: none. */
  readonly metricsAddress: Address | undefined;
  /** Limits of both ports. */
  readonly limits: HttpLimits;
  readonly trustedProxies: readonly Network[];
}

export interface IdentityService {
  /** Background work; completes after `close`. */
  readonly run$: Observable<never>;
  /** Opens the store and the ports; settles with the port of the service. */
  listen(): Promise<number>;
  /** Answers requests in flight, then closes limits and store. Safe to call twice. */
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

const CODES: Readonly<Record<RejectStatus, ErrorCode>> = {
  400: 'invalid_request',
  405: 'method_not_allowed',
  408: 'invalid_request',
  431: 'invalid_request',
  503: 'unavailable',
};

/** The listener's own answers, in the envelope of all answers. */
export function createReject(createRequestId: () => string): Reject {
  return (status) => {
    const requestId = createRequestId();
    const { headers, body } = errorAnswer(CODES[status], requestId);
    const { Allow, 'Retry-After': retryAfter } = headers;
    return {
      headers: {
        ...(Allow !== undefined && { Allow }),
        ...(retryAfter !== undefined && { 'Retry-After': retryAfter }),
        'Content-Type': 'application/json; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
        'X-Request-Id': requestId,
      },
      body: JSON.stringify({
        ...(JSON.parse(body) as object),
        errorDescription: describeRejection(status),
        meta: { code: status, message: STATUS_CODES[status] },
      }),
    };
  };
}
