import { trueOrFalse } from '../platform/env-table/booleans';
import { decimalNumber } from '../platform/env-table/numbers';
import { setting } from '../platform/env-table/setting';
import { oneOf, text } from '../platform/env-table/texts';

export const tracingTable = {
  enabled: setting('TRACING_ENABLED', trueOrFalse, {
    default: 'false',
    doc: 'true exports spans by OTLP; the standard OTEL_EXPORTER_OTLP_* settings say where to',
  }),
  exporterProtocol: setting('TRACING_EXPORTER_PROTOCOL', oneOf('http', 'grpc'), {
    default: 'http',
    doc: 'http or grpc',
  }),
  serviceName: setting('TRACING_SERVICE_NAME', text, {
    default: 'RateLimit',
    doc: 'service name in spans',
  }),
  serviceNamespace: setting('TRACING_SERVICE_NAMESPACE', text, {
    default: '',
    doc: 'service namespace in spans',
  }),
  serviceInstanceId: setting('TRACING_SERVICE_INSTANCE_ID', text, {
    doc: 'instance id in spans',
    whenUnset: 'a random UUID',
  }),
  samplingRate: setting('TRACING_SAMPLING_RATE', decimalNumber(0, 1), {
    default: '1',
    doc: 'share of the requests without a trace of their caller that are traced; otherwise the caller decides',
  }),
};
