import type * as GrpcJs from '@grpc/grpc-js';
import type { IOtlpExportDelegate } from '@opentelemetry/otlp-exporter-base';
import type * as OtlpHttp from '@opentelemetry/otlp-exporter-base/node-http';
import type * as OtlpGrpc from '@opentelemetry/otlp-grpc-exporter-base';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { Statistics } from '../core/ports';
import { toReason } from '../platform/errors';
import { readPemNow } from '../platform/tls-files';
import type { SpanBatch, SpanExporter } from './span-queue';

export interface ExporterOptions {
  readonly protocol: 'http' | 'grpc';
  /** With `https` the connection is encrypted; for http the complete address. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** For one export with its retries. */
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
type OtlpTransport = IOtlpExportDelegate<SpanBatch>;

/** Batches are encoded already. */
const SERIALIZER = {
  serializeRequest: ({ request }: SpanBatch) => request,
  deserializeResponse: () => ({}),
};
const METRICS = { name: 'span', countItems: ({ spans }: SpanBatch) => spans } as const;
/** The library's default: concurrent exports, at a stop or after exports that hang. */
const CONCURRENCY_LIMIT = 30;
const RPC = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

export interface ExporterDeps {
  readonly statistics: Pick<Statistics, 'count'>;
  /** Called after each export, with the reason if it failed. */
  readonly onExport: (failure: string | undefined) => void;
}

const EXPORTED = 'ratelimit.tracing.spans_exported';
const FAILED = 'ratelimit.tracing.spans_failed';

/** OTLP with protobuf over the chosen protocol, counted. Throws when a certificate cannot be read. */
export function createExporter(
  options: ExporterOptions,
  { statistics, onExport }: ExporterDeps,
): SpanExporter {
  const transport = createTransport(options);
  const report = (spans: number, { code, error }: ExportResult): void => {
    const isGood = code === ExportResultCode.SUCCESS;
    statistics.count(isGood ? EXPORTED : FAILED, spans);
    const reason = error === undefined ? 'unknown' : toReason(error);
    onExport(isGood ? undefined : reason);
  };
  return {
    send(batch, done) {
      transport.export(batch, (result) => {
        report(batch.spans, result);
        done();
      });
    },
    close: () => transport.shutdown(),
  };
}

function createTransport(options: ExporterOptions): OtlpTransport {
  const certificates = {
    ca: readPemNow(options.caFile),
    key: readPemNow(options.keyFile),
    certificate: readPemNow(options.certificateFile),
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
    // The transport modifies the object.
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
  const { createOtlpGrpcExportDelegate, Metadata, credentials } = loadGrpc();
  const { url, headers, timeoutMs, compression } = options;
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const { protocol, host } = new URL(url);
  // Created here so that an invalid certificate fails the start.
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

/* eslint-disable @typescript-eslint/no-require-imports -- each is loaded when it is first used: start-up time */
function loadHttp(): typeof OtlpHttp {
  return require('@opentelemetry/otlp-exporter-base/node-http') as typeof OtlpHttp;
}

function loadGrpc(): typeof OtlpGrpc & Pick<typeof GrpcJs, 'Metadata' | 'credentials'> {
  const { Metadata, credentials } = require('@grpc/grpc-js') as typeof GrpcJs;
  const otlp = require('@opentelemetry/otlp-grpc-exporter-base') as typeof OtlpGrpc;
  return { ...otlp, Metadata, credentials };
}
