import { Client, credentials } from '@grpc/grpc-js';
import type { ServiceDefinition } from '@grpc/proto-loader';
import { toReason } from '../../platform/errors';
import { loadProtos, RATE_LIMIT_PROTO } from '../../platform/proto-files';
import { type Decisions, DOMAIN, type RawDecision, readDecision } from './decisions';
import type { RemoteOptions } from './json-decisions';

const SERVICE = 'envoy.service.ratelimit.v3.RateLimitService';
/** The library would wait two minutes for a service that was away for long. */
const MAX_RETRY_MS = 1_000;

/** Decisions by `envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit`, without TLS. */
export function createGrpcDecisions({ target, timeoutMs }: RemoteOptions): Decisions {
  const method = (loadProtos([RATE_LIMIT_PROTO])[SERVICE] as ServiceDefinition)['ShouldRateLimit'];
  if (method === undefined) throw new Error(`${RATE_LIMIT_PROTO} has no method ShouldRateLimit`);
  const client = new Client(target, credentials.createInsecure(), {
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': MAX_RETRY_MS,
  });
  return {
    ask: (entries) =>
      new Promise((resolve, reject) => {
        client.makeUnaryRequest<object, RawDecision>(
          method.path,
          method.requestSerialize,
          method.responseDeserialize,
          { domain: DOMAIN, descriptors: [{ entries }] },
          { deadline: Date.now() + timeoutMs },
          (error, response) => {
            if (error === null) resolve(readDecision(response ?? {}));
            else reject(new Error(`${target}: ${toReason(error)}`));
          },
        );
      }),
    close() {
      client.close();
      return Promise.resolve();
    },
  };
}
