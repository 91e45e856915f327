import { credentials } from '@grpc/grpc-js';
import { toReason } from '../../platform/errors';
import { openRateLimitChannel, RECONNECT_OPTIONS } from '../../platform/rate-limit-channel';
import { type Decisions, DOMAIN, readDecision, type RemoteOptions } from './decisions';

/** Decisions by `envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit`, without TLS. */
export function createGrpcDecisions({ target, timeoutMs }: RemoteOptions): Decisions {
  const channel = openRateLimitChannel(target, credentials.createInsecure(), RECONNECT_OPTIONS);
  return {
    async ask(entries) {
      const request = { domain: DOMAIN, descriptors: [{ entries }] };
      const answer = channel.call(request, { timeoutMs }).catch((error: unknown) => {
        throw new Error(`${target}: ${toReason(error)}`);
      });
      return readDecision(await answer);
    },
    close() {
      channel.close();
      return Promise.resolve();
    },
  };
}
