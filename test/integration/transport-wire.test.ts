import { createWireTransport } from '../../src/transport/grpc/wire/transport';
import { describeGrpcTransport } from './transport.contract';

describeGrpcTransport('wire', (deps, options) =>
  createWireTransport({ ...deps, random: () => 0.5 }, options),
);
