import type { TableReading, Description, Parser } from '../platform/env-table/table';
import {
  decimalNumber,
  oneOf,
  text,
  trueOrFalse,
  booleanInAnyCase,
  path,
  wholeNumber,
  word,
  headerPairs,
} from '../platform/env-table/parsers';
import { clientFiles } from './client-files';
import { type Read, optional, setting } from './setting';

export const tracingTable = {
  enabled: setting('TRACING_ENABLED', trueOrFalse, 'false', {
    doc: 'true exports spans by OTLP; the standard OTEL_EXPORTER_OTLP_* settings say where to',
  }),
  exporterProtocol: setting('TRACING_EXPORTER_PROTOCOL', oneOf('http', 'grpc'), 'http', {
    doc: 'http or grpc',
  }),
  serviceName: setting('TRACING_SERVICE_NAME', text, 'RateLimit', { doc: 'service name in spans' }),
  serviceNamespace: setting('TRACING_SERVICE_NAMESPACE', text, '', {
    doc: 'service namespace in spans',
  }),
  serviceInstanceId: optional('TRACING_SERVICE_INSTANCE_ID', text, 'a random UUID', {
    doc: 'instance id in spans',
  }),
  samplingRate: setting('TRACING_SAMPLING_RATE', decimalNumber(0, 1), '1', {
    doc: 'share of the requests without a trace of their caller that are traced; otherwise the caller decides',
  }),
};

type Otlp = TableReading<typeof otlpForAll>;

const DEFAULT_URL = { http: 'http://localhost:4318', grpc: 'http://localhost:4317' } as const;
const TRACES_PATH = 'v1/traces';
const DEFAULT_TIMEOUT_MS = 10_000;
const FILES = ['certificate', 'clientKey', 'clientCertificate'] as const;

/**
 * The settings of tracing; undefined when it is off. The standard settings are often set for a whole fleet: they are checked only
 * where tracing is on.
 */
export function readTracing(read: Read) {
  const tracing = read(tracingTable);
  if (!tracing.values.enabled) return undefined;
  const otel = read(otelTable);
  if (otel.values.disabled) {
    const texts = [tracing.describe('enabled'), otel.describe('disabled')] as const;
    otel.warn(`${texts[0]} has no effect beside ${texts[1]}`);
    return undefined;
  }
  const { samplingRate, serviceInstanceId, exporterProtocol } = tracing.values;
  const { queueSize, batchSize, delayMs, exportTimeoutMs } = otel.values;
  if (batchSize > queueSize && otel.isSet('batchSize'))
    otel.refuse('batchSize', `at most ${otel.describe('queueSize')}`);
  return {
    samplingRate,
    serviceInstanceId,
    resourceAttributes: toAttributes(tracing, otel),
    exporter: toExporter(exporterProtocol, read(otlpForAll), read(otlpForTraces)),
    batches: { queueSize, batchSize: Math.min(batchSize, queueSize), delayMs, exportTimeoutMs },
  };
}

/** TRACING_* takes precedence, then OTEL_SERVICE_NAME, then OTEL_RESOURCE_ATTRIBUTES, then the defaults. */
function toAttributes(
  tracing: TableReading<typeof tracingTable>,
  otel: TableReading<typeof otelTable>,
): Readonly<Record<string, string>> {
  const { serviceName, serviceNamespace } = tracing.values;
  const named = tracing.isSet('serviceName') ? serviceName : otel.values.serviceName;
  return {
    'service.name': serviceName,
    ...otel.values.resourceAttributes,
    ...(named !== undefined && { 'service.name': named }),
    ...(serviceNamespace !== '' && { 'service.namespace': serviceNamespace }),
  };
}

function toExporter(protocol: 'http' | 'grpc', general: Otlp, traces: Otlp) {
  const of = <K extends keyof Otlp['values']>(key: K) => traces.values[key] ?? general.values[key];
  return {
    protocol,
    url: toUrl(protocol, general, traces),
    headers: { ...general.values.headers, ...traces.values.headers },
    timeoutMs: of('timeoutMs') ?? DEFAULT_TIMEOUT_MS,
    compression: of('compression') ?? 'none',
    caFile: of('certificate'),
    keyFile: of('clientKey'),
    certificateFile: of('clientCertificate'),
    // The same files, each with the setting that names it.
    files: FILES.flatMap((key) => clientFiles(traces.isSet(key) ? traces : general, [key])),
  };
}

function toUrl(protocol: 'http' | 'grpc', general: Otlp, traces: Otlp): string {
  const reading = traces.isSet('endpoint') ? traces : general;
  const isInsecure = traces.values.insecure ?? general.values.insecure ?? false;
  const endpoint = reading.values.endpoint ?? DEFAULT_URL[protocol];
  const url = parseEndpoint(protocol, endpoint, isInsecure);
  if (url === undefined) {
    const also = protocol === 'grpc' ? ' or <host>:<port>' : '';
    reading.refuse('endpoint', `http://<host>:<port> or https://<host>:<port>${also}`);
    return DEFAULT_URL[protocol];
  }
  if (protocol === 'grpc' || reading === traces) return url;
  return `${url.replace(/\/$/, '')}/${TRACES_PATH}`;
}

function parseEndpoint(
  protocol: 'http' | 'grpc',
  endpoint: string,
  isInsecure: boolean,
): string | undefined {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(endpoint);
  if (!hasScheme && protocol === 'http') return undefined;
  const full = hasScheme ? endpoint : `${isInsecure ? 'http' : 'https'}://${endpoint}`;
  if (!/^https?:\/\/[^/?#]+/i.test(full) || !URL.canParse(full)) return undefined;
  return full;
}

/** The maximum of a timer of Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const milliseconds = wholeNumber(1, MAX_TIMER_MS);

/** Settings that the standard has for all exports, and again for traces only. */
function otlpTable(prefix: 'OTEL_EXPORTER_OTLP' | 'OTEL_EXPORTER_OTLP_TRACES') {
  function entry<T>(name: string, parser: Parser<T>, whenUnset: string, more: Description) {
    const doc = prefix.endsWith('TRACES') ? 'the same for traces alone' : more.doc;
    return optional(`${prefix}_${name}`, parser, whenUnset, { ...more, doc });
  }
  return {
    endpoint: entry('ENDPOINT', word, 'http://localhost:4318, over grpc http://localhost:4317', {
      doc: 'where the collector is: <scheme>://<host>:<port>, over grpc also <host>:<port>; over http /v1/traces is appended',
    }),
    insecure: entry('INSECURE', booleanInAnyCase, 'false', {
      doc: 'over grpc, for an endpoint without a scheme: true connects without TLS',
    }),
    headers: entry('HEADERS', headerPairs, 'none', {
      doc: 'headers of every export, k1=v1,k2=v2, values URL-encoded',
      secret: true,
    }),
    timeoutMs: entry('TIMEOUT', milliseconds, '10000', {
      doc: 'longest time of one export with its retries, in milliseconds',
    }),
    compression: entry('COMPRESSION', oneOf('gzip', 'none'), 'none', { doc: 'gzip or none' }),
    certificate: entry('CERTIFICATE', path, "the system's certificate authorities", {
      doc: 'file with the CA certificate of the collector',
    }),
    clientKey: entry('CLIENT_KEY', path, 'none', {
      doc: 'file with the private key of the client certificate',
    }),
    clientCertificate: entry('CLIENT_CERTIFICATE', path, 'none', {
      doc: 'file with the client certificate that is presented to the collector',
    }),
  };
}

export const otlpForAll = otlpTable('OTEL_EXPORTER_OTLP');
export const otlpForTraces = otlpTable('OTEL_EXPORTER_OTLP_TRACES');

/** The standard settings of OpenTelemetry that this service uses; read only where tracing is on. */
export const otelTable = {
  disabled: setting('OTEL_SDK_DISABLED', booleanInAnyCase, 'false', {
    doc: 'true switches tracing off, whatever TRACING_ENABLED says',
  }),
  serviceName: optional('OTEL_SERVICE_NAME', text, 'TRACING_SERVICE_NAME', {
    doc: 'service name in spans where TRACING_SERVICE_NAME is not set',
  }),
  resourceAttributes: optional('OTEL_RESOURCE_ATTRIBUTES', headerPairs, 'none', {
    doc: 'more attributes of this instance, k1=v1,k2=v2, values URL-encoded',
  }),
  queueSize: setting('OTEL_BSP_MAX_QUEUE_SIZE', wholeNumber(1, 1_000_000), '2048', {
    doc: 'spans that wait for their export; more are dropped',
  }),
  batchSize: setting('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', wholeNumber(1, 1_000_000), '512', {
    doc: 'spans of one export',
  }),
  delayMs: setting('OTEL_BSP_SCHEDULE_DELAY', milliseconds, '5000', {
    doc: 'longest time that a span waits for its export, in milliseconds',
  }),
  exportTimeoutMs: setting('OTEL_BSP_EXPORT_TIMEOUT', milliseconds, '30000', {
    doc: 'longest time of one export, in milliseconds',
  }),
};
