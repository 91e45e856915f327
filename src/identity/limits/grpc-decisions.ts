import { Client, credentials } from '@grpc/grpc-js';
import { toReason } from '../../platform/errors';
import { loadShouldRateLimit } from '../../platform/proto-files';
import {
  type Decisions,
  DOMAIN,
  type RawDecision,
  readDecision,
  type RemoteOptions,
} from './decisions';

/** The library would wait two minutes for a service that was unreachable for long. */
const MAX_RETRY_MS = 1_000;

/** Decisions by `envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit`, without TLS. */
export function createGrpcDecisions({ target, timeoutMs }: RemoteOptions): Decisions {
  const method = loadShouldRateLimit();
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
