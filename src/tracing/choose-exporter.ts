import type { IOtlpExportDelegate } from '@opentelemetry/otlp-exporter-base';
import type * as OtlpHttp from '@opentelemetry/otlp-exporter-base/node-http';
import type * as OtlpGrpc from '@opentelemetry/otlp-grpc-exporter-base';
import type * as GrpcJs from '@grpc/grpc-js';
import { readPemNow } from '../platform/tls-files';
import type { SpanBatch } from './span-queue';

export interface ExporterOptions {
  readonly protocol: 'http' | 'grpc';
  /** With `https` the connection is encrypted; over http the complete address. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of one export with its retries. */
  readonly timeoutMs: number;
  readonly compression: 'gzip' | 'none';
  readonly caFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly certificateFile: string | undefined;
}

interface Certificates {
  readonly ca: Buffer | undefined;
  readonly key: Buffer | undefined;
  readonly certificate: Buffer | undefined;
}

/** The library's transport of one protocol: connection, retries, time-outs, compression. */
export type OtlpTransport = IOtlpExportDelegate<SpanBatch>;

/** What is sent is encoded already. */
const SERIALIZER = {
  serializeRequest: ({ request }: SpanBatch) => request,
  deserializeResponse: () => ({}),
};
const METRICS = { name: 'span', countItems: ({ spans }: SpanBatch) => spans } as const;
/** The library's own: exports that run at once, at a stop or behind those that hang. */
const CONCURRENCY_LIMIT = 30;
const RPC = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

/** OTLP with protobuf over the protocol asked for. Throws when a certificate cannot be read. */
export function chooseExporter(options: ExporterOptions): OtlpTransport {
  const certificates = {
    ca: readPemNow(options.caFile, 'OTEL_EXPORTER_OTLP_CERTIFICATE'),
    key: readPemNow(options.keyFile, 'OTEL_EXPORTER_OTLP_CLIENT_KEY'),
    certificate: readPemNow(options.certificateFile, 'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE'),
  };
  return options.protocol === 'http'
    ? overHttp(options, certificates)
    : overGrpc(options, certificates);
}

function overHttp(options: ExporterOptions, { ca, key, certificate }: Certificates): OtlpTransport {
  const { createOtlpHttpExportDelegate, httpAgentFactoryFromOptions } = loadHttp();
  const { url, headers, timeoutMs, compression } = options;
  const config = {
    url,
    compression,
    timeoutMillis: timeoutMs,
    concurrencyLimit: CONCURRENCY_LIMIT,
    // The transport adds to what it gets.
    headers: () => Promise.resolve({ ...headers, 'Content-Type': 'application/x-protobuf' }),
    agentFactory: httpAgentFactoryFromOptions({
      keepAlive: true,
      ...(ca !== undefined && { ca }),
      ...(key !== undefined && { key }),
      ...(certificate !== undefined && { cert: certificate }),
    }),
  };
  return createOtlpHttpExportDelegate(config, SERIALIZER, 'otlp_http_span', METRICS, undefined);
}

function overGrpc(options: ExporterOptions, { ca, key, certificate }: Certificates): OtlpTransport {
  const { createOtlpGrpcExportDelegate } = loadGrpc();
  const { Metadata, credentials } = loadGrpcJs();
  const { url, headers, timeoutMs, compression } = options;
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const { protocol, host } = new URL(url);
  // At once, so that a certificate that is none stops the start.
  const security =
    protocol === 'https:'
      ? credentials.createSsl(ca ?? null, key ?? null, certificate ?? null)
      : credentials.createInsecure();
  const config = {
    url: host,
    compression,
    timeoutMillis: timeoutMs,
    concurrencyLimit: CONCURRENCY_LIMIT,
    metadata: () => metadata,
    credentials: () => security,
  };
  return createOtlpGrpcExportDelegate<SpanBatch, object>(
    config,
    SERIALIZER,
    'otlp_grpc_span',
    METRICS,
    undefined,
    'TraceExportService',
    RPC,
  );
}

/** Loaded only when it is used: start-up time. */
function loadHttp(): typeof OtlpHttp {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- late on purpose
  return require('@opentelemetry/otlp-exporter-base/node-http') as typeof OtlpHttp;
}

function loadGrpc(): typeof OtlpGrpc {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- late on purpose
  return require('@opentelemetry/otlp-grpc-exporter-base') as typeof OtlpGrpc;
}

function loadGrpcJs(): typeof GrpcJs {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- late on purpose
  return require('@grpc/grpc-js') as typeof GrpcJs;
}
