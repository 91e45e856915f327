import { Client, Metadata, credentials, type ServiceError } from '@grpc/grpc-js';
import { SHOULD_RATE_LIMIT, encodeRequest } from './grpc-client';

const asIs = (bytes: Buffer): Buffer => bytes;

/** Asks for a decision with these headers; answers the gRPC status code. */
export async function callWithHeaders(
  address: string,
  request: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const client = new Client(address, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const code = await new Promise<number>((resolve) => {
    const bytes = encodeRequest(request);
    client.makeUnaryRequest<Buffer, Buffer>(
      SHOULD_RATE_LIMIT,
      asIs,
      asIs,
      bytes,
      metadata,
      { deadline: Date.now() + 5_000 },
      (error: ServiceError | null) => {
        resolve(error?.code ?? 0);
      },
    );
  });
  client.close();
  return code;
}
