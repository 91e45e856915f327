import { Client, Metadata, credentials, type ServiceError } from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';
import { RATE_LIMIT_PROTO, loadProtos } from '../../../src/platform/proto-files';

export const SHOULD_RATE_LIMIT = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';

const protos = loadProtos([RATE_LIMIT_PROTO]);
const message = (name: string) =>
  protos[`envoy.service.ratelimit.v3.${name}`] as MessageTypeDefinition<object, object>;
export const encodeRequest = (request: object): Buffer =>
  message('RateLimitRequest').serialize(request);
const decodeResponse = (bytes: Buffer): object => message('RateLimitResponse').deserialize(bytes);

export interface CallResult {
  readonly code: number;
  readonly details: string;
  readonly response: object | undefined;
}

const asIs = (bytes: Buffer): Buffer => bytes;

/** It ends a test that fails: how long a call takes is a figure, and a busy machine is late. */
const DEADLINE_MS = 30_000;

/** A plain gRPC client with a connection of its own that sends any bytes to any method. */
export function createTestClient(address: string) {
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
  });
  const unary = (path: string, bytes: Buffer, deadlineMs = DEADLINE_MS) => {
    const cancel: { now: () => void } = { now: () => undefined };
    const result = new Promise<{ code: number; details: string; bytes: Buffer | undefined }>(
      (resolve) => {
        const call = client.makeUnaryRequest<Buffer, Buffer>(
          path,
          asIs,
          asIs,
          bytes,
          new Metadata(),
          { deadline: Date.now() + deadlineMs },
          (error: ServiceError | null, answer) => {
            resolve({ code: error?.code ?? 0, details: error?.details ?? '', bytes: answer });
          },
        );
        cancel.now = () => {
          call.cancel();
        };
      },
    );
    return { result, cancel };
  };
  return {
    unary,
    async askBytes(bytes: Buffer, deadlineMs?: number): Promise<CallResult> {
      const {
        code,
        details,
        bytes: answer,
      } = await unary(SHOULD_RATE_LIMIT, bytes, deadlineMs).result;
      return { code, details, response: answer && decodeResponse(answer) };
    },
    ask(request: object, deadlineMs?: number): Promise<CallResult> {
      return this.askBytes(encodeRequest(request), deadlineMs);
    },
    /** Opens a stream and gathers what comes. */
    stream(path: string, request: Buffer) {
      const messages: Buffer[] = [];
      const call = client.makeServerStreamRequest<Buffer, Buffer>(path, asIs, asIs, request);
      call.on('data', (bytes: Buffer) => messages.push(bytes));
      const ended = new Promise<number>((resolve) => {
        call.on('error', () => undefined);
        call.on('status', ({ code }: { code: number }) => {
          resolve(code);
        });
      });
      return {
        messages,
        ended,
        cancel: () => {
          call.cancel();
        },
      };
    },
    /** Sends messages over a stream of both directions and gathers the answers. */
    async exchange(path: string, requests: readonly Buffer[]) {
      const answers: Buffer[] = [];
      const call = client.makeBidiStreamRequest<Buffer, Buffer>(path, asIs, asIs);
      call.on('data', (bytes: Buffer) => answers.push(bytes));
      call.on('error', () => undefined);
      const ended = new Promise<number>((resolve) => {
        call.on('status', ({ code }: { code: number }) => {
          resolve(code);
        });
      });
      for (const request of requests) call.write(request);
      call.end();
      return { code: await ended, answers };
    },
    close: () => {
      client.close();
    },
  };
}
