import { ServerCredentials, type Server } from '@grpc/grpc-js';

/** Opens a gRPC server on a free port of this machine; `stop` ends what is open too. */
export async function listenGrpc(server: Server) {
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    port,
    /** `host:port`. */
    address: `127.0.0.1:${String(port)}`,
    stop: () => {
      server.forceShutdown();
    },
  };
}
