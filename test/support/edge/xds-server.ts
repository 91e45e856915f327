import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerOptions,
} from '@grpc/grpc-js';
import type { ServiceDefinition as LoadedService } from '@grpc/proto-loader';
import type {
  DeltaDiscoveryRequest,
  DiscoveryRequest,
} from '../../../src/rule-sources/xds/messages';
import { loadProtos } from '../../../src/platform/proto-files';
import { eventually } from './eventually';

const protos = loadProtos(['envoy/service/discovery/v3/ads.proto']);
const service = protos['envoy.service.discovery.v3.AggregatedDiscoveryService'] as LoadedService;

/** A request of either protocol. */
export type ReadState = Partial<DiscoveryRequest & DeltaDiscoveryRequest>;

/** A stream that a client opened. */
export interface AdsStream {
  readonly headers: ReadonlyMap<string, string>;
  readonly requests: readonly ReadState[];
  /** Waits until the client has sent so many requests and answers the newest of these. */
  requested(count: number): Promise<ReadState>;
  send(response: object): void;
  /** Ends the stream in order. */
  end(): void;
  /** Ends it with a gRPC status. */
  fail(code: number, details: string): void;
}

/** An aggregated discovery server of a test: what it sends, and when, is up to the test. */
export interface AdsServer {
  readonly target: string;
  readonly streams: readonly AdsStream[];
  /** Waits until the client has opened so many streams and answers the newest of these. */
  opened(count: number): Promise<AdsStream>;
  /** Breaks all connections and stops listening. */
  stop(): void;
}

export interface AdsServerOptions {
  readonly port?: number;
  readonly credentials?: ServerCredentials;
  readonly options?: ServerOptions;
  /** Called for each request, after it was noted. */
  readonly onRequest?: (stream: AdsStream, request: ReadState) => void;
}

export async function startAdsServer({
  port = 0,
  credentials = ServerCredentials.createInsecure(),
  options = {},
  onRequest = () => undefined,
}: AdsServerOptions = {}): Promise<AdsServer> {
  const server = new Server(options);
  const streams: AdsStream[] = [];
  const follow = (call: ServerDuplexStream<ReadState, object>) => {
    const requests: ReadState[] = [];
    const headers = new Map(
      Object.entries(call.metadata.getMap()).map(([name, value]) => [name, String(value)]),
    );
    const stream: AdsStream = {
      headers,
      requests,
      requested: (count) => nth(requests, count, 'requests'),
      send: (response) => call.write(response),
      end: () => {
        call.end();
      },
      fail: (code, details) => {
        call.emit('error', { code, details });
      },
    };
    streams.push(stream);
    call.on('data', (request: ReadState) => {
      requests.push(request);
      onRequest(stream, request);
    });
    call.on('error', () => undefined);
  };
  server.addService(service, {
    StreamAggregatedResources: follow,
    DeltaAggregatedResources: follow,
  });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${String(port)}`, credentials, (error, found) => {
      if (error === null) resolve(found);
      else reject(error);
    });
  });
  return {
    target: `127.0.0.1:${String(bound)}`,
    streams,
    opened: (count) => nth(streams, count, 'streams'),
    stop: () => {
      server.forceShutdown();
    },
  };
}

function nth<T>(list: readonly T[], count: number, what: string): Promise<T> {
  return eventually(
    () => {
      const found = list[count - 1];
      if (found === undefined) {
        throw new Error(
          `${String(list.length)} of ${String(count)} ${what}: ${JSON.stringify(list)}`,
        );
      }
      return found;
    },
    { withinMs: 15_000 },
  );
}
