import { once } from 'node:events';
import { connect, constants, type ClientHttp2Session } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Client, compressionAlgorithms, credentials, status } from '@grpc/grpc-js';
import type { GrpcTransportOptions } from '../../src/transport/grpc/options';
import { DEFAULT_BOUNDS } from '../../src/transport/bounds';
import { createWireTransport } from '../../src/transport/grpc/wire/transport';
import { createTestClient, encodeRequest, SHOULD_RATE_LIMIT } from '../support/edge/grpc-client';
import { startTransport } from '../support/transport-harness';
import { findTool, run } from '../support/edge/grpc-tools';
import { TEST_CA, TEST_CERTIFICATE, TEST_KEY } from '../integration/transport.certificates';

const REQUEST = { domain: 'edge', descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }] };
const TLS = { certificate: Buffer.from(TEST_CERTIFICATE), key: Buffer.from(TEST_KEY) };

const prefixed = (message: Buffer, flag = 0) => {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
};

const LONG_DOMAINS = { ...DEFAULT_BOUNDS, maxNameBytes: DEFAULT_BOUNDS.maxGrpcMessageBytes };

describe('our gRPC transport', () => {
  let folder: string;
  let body: string;
  let service: Awaited<ReturnType<typeof startTransport>>;
  let url: string;

  const start = async (options: Partial<GrpcTransportOptions> = {}) => {
    service = await startTransport(
      (deps, all) => createWireTransport({ ...deps, random: () => 0.5 }, all),
      undefined,
      options,
    );
    url = `http://${service.address}${SHOULD_RATE_LIMIT}`;
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-interop-'));
    body = join(folder, 'request.bin');
    await writeFile(body, prefixed(encodeRequest(REQUEST)));
  });
  afterEach(async () => {
    await service.transport.close(1_000);
    await rm(folder, { recursive: true });
  });

  describe('with curl', () => {
    const curl = (...more: string[]) =>
      run(findTool('curl', 'curl'), [
        ...['-sS', '--http2-prior-knowledge', '-D-', '-o', join(folder, 'answer.bin')],
        ...['--data-binary', `@${body}`, ...more, url],
      ]);

    it('answers a call', async () => {
      await start();
      const printed = await curl('-H', 'content-type: application/grpc', '-H', 'te: trailers');
      expect(printed).toMatch(/^HTTP\/2 200/);
      expect(printed).toContain('grpc-status: 0');
      expect(await readFile(join(folder, 'answer.bin'))).toEqual(prefixed(Buffer.from([8, 1])));
    });

    it('refuses what is no gRPC', async () => {
      await start();
      expect(await curl('-H', 'content-type: text/plain')).toMatch(/^HTTP\/2 415/);
      const put = await curl('-X', 'PUT', '-H', 'content-type: application/grpc');
      expect(put).toMatch(/^HTTP\/2 405/);
    });

    it('takes an upload of many frames', async () => {
      await start({ bounds: LONG_DOMAINS });
      const request = { ...REQUEST, domain: 'd'.repeat(3_000_000) };
      await writeFile(body, prefixed(encodeRequest(request)));
      const printed = await curl('-H', 'content-type: application/grpc');
      expect(printed).toContain('grpc-status: 0');
      expect(service.requests()[0]?.domain).toHaveLength(3_000_000);
    });
  });

  describe('with nghttp2', () => {
    it('answers nghttp, which sends priorities', async () => {
      await start();
      const printed = await run(findTool('nghttp', 'nghttp2-client'), [
        ...['-nv', '-d', body, '-H', 'content-type: application/grpc', url],
      ]);
      expect(printed).toContain('grpc-status: 0');
      expect(printed).toContain('PRIORITY');
    });

    it.each([
      ['10', '10'],
      ['50', '1'],
    ])(
      'answers h2load with %s connections of %s calls each, all of them',
      async (c, m) => {
        await start();
        const printed = await run(findTool('h2load', 'nghttp2-client'), [
          ...['-n', '20000', '-c', c, '-m', m, '-d', body],
          ...['-H', 'content-type: application/grpc', '-H', 'te: trailers', url],
        ]);
        expect(printed).toContain('20000 succeeded, 0 failed');
        expect(service.requests()).toHaveLength(20_000);
      },
      30_000,
    );
  });

  describe('with node:http2', () => {
    let session: ClientHttp2Session;
    let greeted: Promise<unknown>;
    const open = (headers: Record<string, string> = {}) =>
      session.request({
        ':method': 'POST',
        ':path': SHOULD_RATE_LIMIT,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...headers,
      });
    /** Sends the rest of the request and gathers the fields of the answer. */
    const finish = (stream: ReturnType<typeof open>, rest: Buffer) => {
      const fields: Record<string, unknown> = {};
      const gather = (more: Record<string, unknown>) => Object.assign(fields, more);
      stream.on('response', gather).on('trailers', gather).resume();
      stream.end(rest);
      return new Promise<object>((resolve) => {
        stream.once('close', () => {
          resolve(fields);
        });
      });
    };
    const call = prefixed(encodeRequest(REQUEST));

    beforeEach(async () => {
      await start();
      session = connect(`http://${service.address}`);
      greeted = once(session, 'remoteSettings');
    });
    afterEach(() => {
      session.destroy();
    });

    it('answers calls whose octets trickle in', async () => {
      const stream = open();
      for (const byte of call) stream.write(Buffer.from([byte]));
      expect(await finish(stream, Buffer.alloc(0))).toMatchObject({
        ':status': 200,
        'grpc-status': '0',
      });
    });

    it('reads gzip', async () => {
      const stream = open({ 'grpc-encoding': 'gzip' });
      const packed = prefixed(gzipSync(encodeRequest(REQUEST)), 1);
      expect(await finish(stream, packed)).toMatchObject({ 'grpc-status': '0' });
      expect(service.requests()[0]?.domain).toBe('edge');
    });

    it('says which encodings it reads', async () => {
      const stream = open({ 'grpc-encoding': 'snappy' });
      expect(await finish(stream, call)).toMatchObject({
        'grpc-status': '12',
        'grpc-accept-encoding': 'identity,gzip',
      });
    });

    it('goes on after a reset by INTERNAL_ERROR, as Envoy sends at its time-out', async () => {
      const stream = open();
      stream.write(Buffer.from([0]));
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      await new Promise((resolve) => stream.on('error', () => undefined).once('close', resolve));
      expect(await finish(open(), call)).toMatchObject({ 'grpc-status': '0' });
    });

    it('answers a PING', async () => {
      // A PING before the SETTINGS is cancelled by node itself.
      await greeted;
      const answered = await new Promise<boolean>((resolve) => {
        session.ping((error) => {
          resolve(error === null);
        });
      });
      expect(answered).toBe(true);
    });
  });

  describe('with grpc-js', () => {
    it('reads what that compresses', async () => {
      await start({ bounds: LONG_DOMAINS });
      const client = new Client(service.address, credentials.createInsecure(), {
        'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
      });
      const code = await new Promise((resolve) => {
        client.makeUnaryRequest(
          SHOULD_RATE_LIMIT,
          (bytes: Buffer) => bytes,
          (bytes) => bytes,
          encodeRequest({ ...REQUEST, domain: 'd'.repeat(100_000) }),
          (error) => {
            resolve(error?.code ?? 0);
          },
        );
      });
      client.close();
      expect(code).toBe(status.OK);
      expect(service.requests()[0]?.domain).toHaveLength(100_000);
    });

    it('loses no call when connections come of age', async () => {
      await start({ maxConnectionAgeMs: 300, maxConnectionAgeGraceMs: 10_000 });
      const client = createTestClient(service.address);
      const until = Date.now() + 1_500;
      const codes = new Set<number>();
      let calls = 0;
      while (Date.now() < until) {
        const answers = await Promise.all(Array.from({ length: 20 }, () => client.ask(REQUEST)));
        for (const { code } of answers) codes.add(code);
        calls += answers.length;
      }
      client.close();
      expect(calls).toBeGreaterThan(100);
      expect([...codes]).toEqual([status.OK]);
    });

    it('answers on a Unix socket', async () => {
      const path = join(folder, 'rls.sock');
      await start({ address: { path } });
      expect(service.address).toBe(`unix:${path}`);
      const client = createTestClient(service.address);
      expect((await client.ask(REQUEST)).code).toBe(status.OK);
      client.close();
    });
  });

  describe('with TLS', () => {
    const ask = async (key: Buffer | null, certificate: Buffer | null): Promise<number> => {
      const channel = credentials.createSsl(Buffer.from(TEST_CA), key, certificate);
      const client = new Client(service.address, channel, {
        'grpc.ssl_target_name_override': 'rls.test',
      });
      const code = await new Promise<number>((resolve) => {
        client.makeUnaryRequest(
          SHOULD_RATE_LIMIT,
          (bytes: Buffer) => bytes,
          (bytes) => bytes,
          encodeRequest(REQUEST),
          (error) => {
            resolve(error?.code ?? 0);
          },
        );
      });
      client.close();
      return code;
    };

    it('answers over TLS and not over plain text', async () => {
      await start({ tls: { ...TLS, clientCa: undefined } });
      expect(await ask(null, null)).toBe(status.OK);
      const plain = createTestClient(service.address);
      expect((await plain.ask(REQUEST)).code).toBe(status.UNAVAILABLE);
      plain.close();
      expect(await ask(null, null)).toBe(status.OK);
    });

    it('stops while somebody is in the middle of a handshake', async () => {
      await start({ tls: { ...TLS, clientCa: undefined } });
      const silent = connectSocket(Number(service.address.split(':')[1]), '127.0.0.1');
      await new Promise((resolve) => silent.once('connect', resolve));
      const cut = new Promise((resolve) => silent.once('close', resolve));
      expect(await ask(null, null)).toBe(status.OK);
      await service.transport.close(5_000);
      await cut;
    });

    it('wants a client certificate where an authority for it is given', async () => {
      await start({ tls: { ...TLS, clientCa: Buffer.from(TEST_CA) } });
      expect(await ask(TLS.key, TLS.certificate)).toBe(status.OK);
      expect(await ask(null, null)).toBe(status.UNAVAILABLE);
    });
  });
});
