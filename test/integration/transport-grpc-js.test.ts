import { createGrpcJsTransport } from '../../src/transport/grpc/grpc-js/transport';
import { describeGrpcTransport } from './transport.contract';

describeGrpcTransport('grpc-js', createGrpcJsTransport);
