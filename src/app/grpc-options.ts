import type { BoundSettings } from '../settings/bounds';
import type { GrpcServerSettings } from '../settings/servers';
import type { GrpcTransportOptions } from '../transport/grpc/options';
import type { Certificates } from './tls/create-certificates';

/** The longest that a timer of Node can run. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The gRPC settings in the words of the transports. */
export function toGrpcOptions(
  grpc: GrpcServerSettings,
  certificates: Certificates | undefined,
  { maxConnections }: BoundSettings,
): GrpcTransportOptions {
  const { host, port, unixSocket, unixSocketMode, tls, reflection } = grpc;
  return {
    address: unixSocket === undefined ? { host, port } : { path: unixSocket },
    unixSocketMode,
    tls: certificates && {
      ...certificates.first,
      renewals$: certificates.renewals$,
      clientName: tls?.clientName,
    },
    maxConnections,
    reflection,
    maxConnectionAgeMs: toAge(grpc.maxConnectionAgeMs),
    maxConnectionAgeGraceMs: toAge(grpc.maxConnectionAgeGraceMs),
  };
}

function toAge(ms: number): number | undefined {
  return ms === 0 ? undefined : Math.min(ms, MAX_TIMER_MS);
}
