import { headerPairs } from '../platform/env-table/lists';
import {
  booleanInAnyCase,
  oneOf,
  path,
  text,
  wholeNumber,
  word,
} from '../platform/env-table/scalars';
import type { Description, Parser } from '../platform/env-table/setting';
import { setting } from './setting';

/** The maximum of a timer of Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const milliseconds = wholeNumber(1, MAX_TIMER_MS);

/** Settings that the standard has for all exports, and again for traces only. */
function otlpTable(prefix: 'OTEL_EXPORTER_OTLP' | 'OTEL_EXPORTER_OTLP_TRACES') {
  function entry<T>(name: string, parser: Parser<T>, description: Description) {
    const doc = prefix.endsWith('TRACES') ? `the same for traces alone` : description.doc;
    return setting(`${prefix}_${name}`, parser, { ...description, doc });
  }
  return {
    endpoint: entry('ENDPOINT', word, {
      doc: 'where the collector is: <scheme>://<host>:<port>, over grpc also <host>:<port>; over http /v1/traces is appended',
      whenUnset: 'http://localhost:4318, over grpc http://localhost:4317',
    }),
    insecure: entry('INSECURE', booleanInAnyCase, {
      doc: 'over grpc, for an endpoint without a scheme: true connects without TLS',
      whenUnset: 'false',
    }),
    headers: entry('HEADERS', headerPairs, {
      doc: 'headers of every export, k1=v1,k2=v2, values URL-encoded',
      whenUnset: 'none',
      secret: true,
    }),
    timeoutMs: entry('TIMEOUT', milliseconds, {
      doc: 'longest time of one export with its retries, in milliseconds',
      whenUnset: '10000',
    }),
    compression: entry('COMPRESSION', oneOf('gzip', 'none'), {
      doc: 'gzip or none',
      whenUnset: 'none',
    }),
    certificate: entry('CERTIFICATE', path, {
      doc: 'file with the CA certificate of the collector',
      whenUnset: "the system's certificate authorities",
    }),
    clientKey: entry('CLIENT_KEY', path, {
      doc: 'file with the private key of the client certificate',
      whenUnset: 'none',
    }),
    clientCertificate: entry('CLIENT_CERTIFICATE', path, {
      doc: 'file with the client certificate that is presented to the collector',
      whenUnset: 'none',
    }),
  };
}

export const otlpForAll = otlpTable('OTEL_EXPORTER_OTLP');
export const otlpForTraces = otlpTable('OTEL_EXPORTER_OTLP_TRACES');

/** The standard settings of OpenTelemetry that this service uses; read only where tracing is on. */
export const otelTable = {
  disabled: setting('OTEL_SDK_DISABLED', booleanInAnyCase, {
    default: 'false',
    doc: 'true switches tracing off, whatever TRACING_ENABLED says',
  }),
  serviceName: setting('OTEL_SERVICE_NAME', text, {
    doc: 'service name in spans where TRACING_SERVICE_NAME is not set',
    whenUnset: 'TRACING_SERVICE_NAME',
  }),
  resourceAttributes: setting('OTEL_RESOURCE_ATTRIBUTES', headerPairs, {
    doc: 'more attributes of this instance, k1=v1,k2=v2, values URL-encoded',
    whenUnset: 'none',
  }),
  queueSize: setting('OTEL_BSP_MAX_QUEUE_SIZE', wholeNumber(1, 1_000_000), {
    default: '2048',
    doc: 'spans that wait for their export; more are dropped',
  }),
  batchSize: setting('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', wholeNumber(1, 1_000_000), {
    default: '512',
    doc: 'spans of one export',
  }),
  delayMs: setting('OTEL_BSP_SCHEDULE_DELAY', milliseconds, {
    default: '5000',
    doc: 'longest time that a span waits for its export, in milliseconds',
  }),
  exportTimeoutMs: setting('OTEL_BSP_EXPORT_TIMEOUT', milliseconds, {
    default: '30000',
    doc: 'longest time of one export, in milliseconds',
  }),
};
