import { readFileSync } from 'node:fs';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import type * as OtlpGrpc from '@opentelemetry/exporter-trace-otlp-grpc';
import type * as OtlpHttp from '@opentelemetry/exporter-trace-otlp-proto';
import type * as GrpcJs from '@grpc/grpc-js';

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

/** OTLP with protobuf over the protocol asked for. Throws when a certificate cannot be read. */
export function chooseExporter(options: ExporterOptions): SpanExporter {
  const certificates = {
    ca: readPem('CERTIFICATE', options.caFile),
    key: readPem('CLIENT_KEY', options.keyFile),
    certificate: readPem('CLIENT_CERTIFICATE', options.certificateFile),
  };
  return options.protocol === 'http'
    ? overHttp(options, certificates)
    : overGrpc(options, certificates);
}

function overHttp(options: ExporterOptions, { ca, key, certificate }: Certificates): SpanExporter {
  const { OTLPTraceExporter } = loadHttp();
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
  return new OTLPTraceExporter(withCompression(config, options));
}

function overGrpc(options: ExporterOptions, { ca, key, certificate }: Certificates): SpanExporter {
  const { OTLPTraceExporter } = loadGrpc();
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
  return new OTLPTraceExporter(withCompression(config, options));
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
  return require('@opentelemetry/exporter-trace-otlp-proto') as typeof OtlpHttp;
}

function loadGrpc(): typeof OtlpGrpc {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- late on purpose
  return require('@opentelemetry/exporter-trace-otlp-grpc') as typeof OtlpGrpc;
}

function loadGrpcJs(): typeof GrpcJs {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- late on purpose
  return require('@grpc/grpc-js') as typeof GrpcJs;
}
