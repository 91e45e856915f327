import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { Client, credentials, status, type ServiceError } from '@grpc/grpc-js';
import { createGrpcJsTransport } from '../../src/transport/grpc/grpc-js/transport';
import { createTestClient, encodeRequest, SHOULD_RATE_LIMIT } from '../contract/transport.client';
import { startTransport } from '../contract/transport.harness';
import { TEST_CA, TEST_CERTIFICATE, TEST_KEY } from './transport.certificates';

const REQUEST = { domain: 'edge', descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }] };

describe('the gRPC port on a Unix socket', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-socket-'));
    path = join(folder, 'rls.sock');
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function answers(): Promise<number> {
    const service = await startTransport(createGrpcJsTransport, undefined, { address: { path } });
    expect(service.address).toBe(`unix:${path}`);
    const client = createTestClient(service.address);
    const { code } = await client.ask(REQUEST);
    client.close();
    await service.transport.close(1_000);
    return code;
  }

  it('answers there', async () => {
    expect(await answers()).toBe(status.OK);
  });

  it('takes over a socket that a killed process left behind', async () => {
    const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    try {
      execFileSync(process.execPath, ['-e', script]);
    } catch {
      // Killed, as it should be.
    }
    expect((await stat(path)).isSocket()).toBe(true);
    expect(await answers()).toBe(status.OK);
  });

  it('leaves a socket alone that somebody answers on', async () => {
    const other = createServer().listen(path);
    await once(other, 'listening');
    const refused = await answers().catch((error: unknown) => error);
    other.close();
    await once(other, 'close');
    expect(refused).toEqual(
      new Error(`cannot listen on unix:${path}: listen EADDRINUSE: address already in use ${path}`),
    );
  });

  it('leaves a file alone that is no socket', async () => {
    execFileSync('touch', [path]);
    await chmod(path, 0o600);
    await expect(answers()).rejects.toThrow(`cannot listen on unix:${path}: listen EADDRINUSE`);
  });
});

describe('the gRPC port with TLS', () => {
  const tls = { certificate: Buffer.from(TEST_CERTIFICATE), key: Buffer.from(TEST_KEY) };

  function ask(address: string, withCertificate: boolean): Promise<number> {
    const channel = credentials.createSsl(
      Buffer.from(TEST_CA),
      withCertificate ? tls.key : null,
      withCertificate ? tls.certificate : null,
    );
    const client = new Client(address, channel, { 'grpc.ssl_target_name_override': 'rls.test' });
    return new Promise((resolve) => {
      client.makeUnaryRequest<Buffer, Buffer>(
        SHOULD_RATE_LIMIT,
        (bytes) => bytes,
        (bytes) => bytes,
        encodeRequest(REQUEST),
        (error: ServiceError | null) => {
          client.close();
          resolve(error?.code ?? status.OK);
        },
      );
    });
  }

  it('answers over TLS and not over plain text', async () => {
    const service = await startTransport(createGrpcJsTransport, undefined, {
      tls: { ...tls, clientCa: undefined },
    });
    const plain = createTestClient(service.address);
    expect(await ask(service.address, false)).toBe(status.OK);
    expect((await plain.ask(REQUEST)).code).toBe(status.UNAVAILABLE);
    plain.close();
    await service.transport.close(1_000);
  });

  it('wants a client certificate where an authority for it is given', async () => {
    const service = await startTransport(createGrpcJsTransport, undefined, {
      tls: { ...tls, clientCa: Buffer.from(TEST_CA) },
    });
    expect(await ask(service.address, true)).toBe(status.OK);
    expect(await ask(service.address, false)).toBe(status.UNAVAILABLE);
    await service.transport.close(1_000);
  });
});
