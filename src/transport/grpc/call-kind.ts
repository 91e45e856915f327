import type { CallKind } from '../../core/ports';
import { SHOULD_RATE_LIMIT } from './methods';
import { toGrpcStatus } from './status';

const [, service = '', method = ''] = SHOULD_RATE_LIMIT.split('/');

/** ShouldRateLimit in the words of OpenTelemetry's conventions for RPC. */
export const GRPC_CALL: CallKind = {
  name: `${service}/${method}`,
  attributes: { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': method },
  statusAttribute: 'rpc.grpc.status_code',
  statusOf: (answer) => (answer.kind === 'decision' ? 0 : toGrpcStatus(answer).code),
};
