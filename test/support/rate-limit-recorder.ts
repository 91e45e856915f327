import { Server, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import type { ServiceDefinition } from '@grpc/proto-loader';
import { RATE_LIMIT_PROTO, loadProtos } from '../../src/platform/proto-files';
import { listenGrpc } from './listen-grpc';

interface RateLimitCall {
  readonly domain: string;
  readonly descriptors: readonly {
    readonly entries: readonly { readonly key: string; readonly value: string }[];
    readonly hitsAddend?: { readonly value?: string };
  }[];
}

/** A rate limit service that only writes down what it is asked. */
export interface RateLimitRecorder {
  /** `host:port` of its gRPC port. */
  readonly address: string;
  /** Calls in their order, each a list of `[key=value][key=value] hits`, without hits where the descriptor has none of its own. */
  readonly calls: readonly (readonly string[])[];
  /** What all further calls are answered; `nothing` lets them wait. Default OK. */
  answerWith(code: 'OK' | 'OVER_LIMIT' | 'nothing'): void;
  /** Calls that their caller took back before they were answered. */
  cancelled(): number;
  stop(): void;
}

export async function startRateLimitRecorder(): Promise<RateLimitRecorder> {
  const [service] = Object.values(loadProtos([RATE_LIMIT_PROTO])).filter(isService);
  const method = service?.['ShouldRateLimit'];
  if (method === undefined) throw new Error(`${RATE_LIMIT_PROTO} has no method ShouldRateLimit`);
  const calls: (readonly string[])[] = [];
  let code = 'OK';
  let cancelled = 0;
  const server = new Server();
  server.register(
    method.path,
    (call: ServerUnaryCall<object, object>, reply: sendUnaryData<object>) => {
      calls.push((call.request as RateLimitCall).descriptors.map(toLine));
      if (code === 'nothing') call.once('cancelled', () => (cancelled += 1));
      else reply(null, { overallCode: code });
    },
    method.responseSerialize,
    method.requestDeserialize,
    'unary',
  );
  return {
    ...(await listenGrpc(server)),
    calls,
    answerWith(next) {
      code = next;
    },
    cancelled: () => cancelled,
  };
}

function isService(definition: object): definition is ServiceDefinition {
  return 'ShouldRateLimit' in definition;
}

function toLine({ entries, hitsAddend }: RateLimitCall['descriptors'][number]): string {
  const names = entries.map(({ key, value }) => `[${key}=${value}]`).join('');
  return hitsAddend === undefined ? names : `${names} ${hitsAddend.value ?? '0'}`;
}
