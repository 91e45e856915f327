import { readFileSync } from 'node:fs';
import type { IOtlpExportDelegate } from '@opentelemetry/otlp-exporter-base';
import type * as OtlpHttp from '@opentelemetry/otlp-exporter-base/node-http';
import type * as OtlpGrpc from '@opentelemetry/otlp-grpc-exporter-base';
import type * as GrpcJs from '@grpc/grpc-js';
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
const SIGNAL = 'TRACES';
const PATH = 'v1/traces';
const RPC = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

/** OTLP with protobuf over the protocol asked for. Throws when a certificate cannot be read. */
export function chooseExporter(options: ExporterOptions): OtlpTransport {
  const certificates = {
    ca: readPem('CERTIFICATE', options.caFile),
    key: readPem('CLIENT_KEY', options.keyFile),
    certificate: readPem('CLIENT_CERTIFICATE', options.certificateFile),
  };
  return options.protocol === 'http'
    ? overHttp(options, certificates)
    : overGrpc(options, certificates);
}

function overHttp(options: ExporterOptions, { ca, key, certificate }: Certificates): OtlpTransport {
  const { convertLegacyHttpOptions, createOtlpHttpExportDelegate } = loadHttp();
  const { url, headers, timeoutMs } = options;
  const config = {
    url,
    headers: { ...headers },
    timeoutMillis: timeoutMs,
    httpAgentOptions: {
      keepAlive: true,
      ...(ca !== undefined && { ca }),
      ...(key !== undefined && { key }),
      ...(certificate !== undefined && { cert: certificate }),
    },
  };
  const complete = convertLegacyHttpOptions(withCompression(config, options), SIGNAL, PATH, {
    'Content-Type': 'application/x-protobuf',
  });
  return createOtlpHttpExportDelegate(complete, SERIALIZER, 'otlp_http_span', METRICS, undefined);
}

function overGrpc(options: ExporterOptions, { ca, key, certificate }: Certificates): OtlpTransport {
  const { convertLegacyOtlpGrpcOptions, createOtlpGrpcExportDelegate } = loadGrpc();
  const { Metadata, credentials } = loadGrpcJs();
  const { url, headers, timeoutMs } = options;
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const config = {
    url,
    metadata,
    timeoutMillis: timeoutMs,
    credentials: url.toLowerCase().startsWith('https:')
      ? credentials.createSsl(ca ?? null, key ?? null, certificate ?? null)
      : credentials.createInsecure(),
  };
  const complete = convertLegacyOtlpGrpcOptions(withCompression(config, options), SIGNAL);
  return createOtlpGrpcExportDelegate<SpanBatch, object>(
    complete,
    SERIALIZER,
    'otlp_grpc_span',
    METRICS,
    undefined,
    'TraceExportService',
    RPC,
  );
}

/** The library's type of it is an enum of a package that is not ours to import. */
function withCompression<C extends object>(config: C, { compression }: ExporterOptions): C {
  return Object.assign(config, { compression });
}

function readPem(name: string, file: string | undefined): Buffer | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`OTEL_EXPORTER_OTLP_${name}: cannot read the file: ${reason}`, {
      cause: error,
    });
  }
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
