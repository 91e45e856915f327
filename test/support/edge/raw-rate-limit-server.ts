import { Server, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import { SHOULD_RATE_LIMIT } from './grpc-client';
import { listenGrpc } from '../listen-grpc';

type Call = ServerUnaryCall<Buffer, Buffer>;

/** A gRPC server that shows the bytes of each call and what becomes of it. */
export async function startRawRateLimitServer(answer: (call: Call) => Buffer | undefined) {
  const requests: Buffer[] = [];
  const cancelled: Buffer[] = [];
  const server = new Server();
  const asIs = (bytes: Buffer): Buffer => bytes;
  server.addService(
    {
      shouldRateLimit: {
        path: SHOULD_RATE_LIMIT,
        requestStream: false,
        responseStream: false,
        requestSerialize: asIs,
        requestDeserialize: asIs,
        responseSerialize: asIs,
        responseDeserialize: asIs,
      },
    },
    {
      shouldRateLimit: (call: Call, respond: sendUnaryData<Buffer>) => {
        requests.push(call.request);
        call.on('cancelled', () => cancelled.push(call.request));
        const bytes = answer(call);
        if (bytes !== undefined) respond(null, bytes);
      },
    },
  );
  return {
    ...(await listenGrpc(server)),
    requests,
    cancelled,
  };
}
