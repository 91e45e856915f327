import { connect, type IncomingHttpHeaders } from 'node:http2';
import { status } from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';
import { toProtoJson } from '../../../src/cli/response';
import { RATE_LIMIT_PROTO, loadProtos } from '../../../src/platform/proto-files';
import { bytesField, grpcMessage } from '../grpc-frames';
import { repeated } from '../repeated';
import type { PlayedSocket } from './played-ports';

const protos = loadProtos([RATE_LIMIT_PROTO]);
const typeOf = (name: string) =>
  protos[`envoy.service.ratelimit.v3.${name}`] as MessageTypeDefinition<object, object>;

interface Called {
  /** The name of its code. */
  readonly code: string;
  readonly details: string;
  readonly messages: readonly Buffer[];
}

/** `METHOD MESSAGE & MESSAGE`: the messages are JSON, in hexadecimal digits (`0x0a`), or a name for the methods of health. */
export async function callGrpc(socket: PlayedSocket, asked: string): Promise<Called> {
  const [path = '', text = '0x'] = asked.split(/ (.*)/s);
  const messages = text.split(' & ').map((one) => toMessage(repeated(one)));
  const session = connect('http://rls.test', { createConnection: () => socket });
  const stream = session.request({
    ':method': 'POST',
    ':path': path.startsWith('/') ? path : (PATHS[path] ?? path),
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const ended = new Promise<Called>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let last: IncomingHttpHeaders = {};
    const note = (headers: IncomingHttpHeaders): void => {
      last = { ...last, ...headers };
    };
    stream.on('response', note).on('trailers', note).on('error', reject);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    // Also where the call ends before all of it was sent.
    stream.once('end', () => {
      const details = decodeURIComponent(String(last['grpc-message'] ?? ''));
      const code = status[Number(last['grpc-status'])] ?? 'NONE';
      resolve({ code, details, messages: withoutPrefixes(Buffer.concat(chunks)) });
    });
  });
  for (const message of messages) stream.write(grpcMessage(message));
  stream.end();
  const called = await ended;
  session.destroy();
  return called;
}

const PATHS: Readonly<Record<string, string>> = {
  ask: '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
  health: '/grpc.health.v1.Health/Check',
  reflection: '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
  'reflection-alpha': '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
};

function toMessage(text: string): Buffer {
  if (text.startsWith('0x')) return Buffer.from(text.slice(2), 'hex');
  if (text.startsWith('{')) return typeOf('RateLimitRequest').serialize(JSON.parse(text) as object);
  const [, field = '1', name = ''] = /^(?:(\d)=)?(.*)$/.exec(text) ?? [];
  return bytesField(Number(field), name);
}

function withoutPrefixes(bytes: Buffer): readonly Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    messages.push(bytes.subarray(at + 5, end));
    at = end;
  }
  return messages;
}

/** `CODE | DETAILS`, or `CODE | MESSAGE | MESSAGE`: JSON of a decision, digits of others, `~PART`. */
export function calledLike(asked: string, expected: string, called: Called): string {
  const [, ...parts] = expected.split(' | ');
  const isDecision = asked.startsWith('ask ');
  const told = called.messages.map((bytes) =>
    isDecision
      ? JSON.stringify(toProtoJson(typeOf('RateLimitResponse').deserialize(bytes)))
      : bytes,
  );
  const all = called.code === 'OK' ? told : [called.details];
  return [called.code, ...parts.map((part, at) => partLike(part, all[at] ?? 'none'))].join(' | ');
}

function partLike(expected: string, told: string | Buffer): string {
  const isPart = expected.startsWith('~') && told.includes(expected.slice(1));
  if (isPart) return expected;
  return typeof told === 'string' ? told : `0x${told.toString('hex')}`;
}
