import { readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { status } from '@grpc/grpc-js';
import { Subject } from 'rxjs';
import { createGrpcJsTransport } from '../../src/transport/grpc/grpc-js/transport';
import type { ClientRefusal, ServerTls, TlsPems } from '../../src/transport/grpc/options';
import { createWireTransport } from '../../src/transport/grpc/wire/transport';
import { createTestClient } from '../support/edge/grpc-client';
import { startTransport, type CreateGrpcTransport } from '../support/transport-harness';
import { createAuthority, type CertificateFiles } from '../support/certificates';
import { eventually } from '../support/edge/eventually';
import {
  askOverTls,
  createTlsCaller,
  SERVER_NAME,
  serialShown,
  shakeHands,
  type CallerFiles,
} from '../support/edge/tls-caller';

const authority = createAuthority();
const stranger = createAuthority('another authority');
const served = authority.issue('served', [SERVER_NAME]);
const next = authority.issue('next', [SERVER_NAME]);
const { caFile } = authority;
const mine = authority.issue('edge', ['edge.test', '10.1.2.3']);
const wild = authority.issue('wild', ['*.fleet.test']);
const expired = authority.issue('expired', ['edge.test'], { isExpired: true });
const foreign = { ...stranger.issue('foreign', ['edge.test']), caFile };
const nobody: CallerFiles = { caFile };

afterAll(() => {
  rmSync(authority.directory, { recursive: true });
  rmSync(stranger.directory, { recursive: true });
});

const toPems = ({ certFile, keyFile }: CertificateFiles, clientCaFile?: string): TlsPems => ({
  certificate: readFileSync(certFile),
  key: readFileSync(keyFile),
  clientCa: clientCaFile === undefined ? undefined : readFileSync(clientCaFile),
});

describe.each<[string, CreateGrpcTransport]>([
  ['wire', (deps, options) => createWireTransport({ ...deps, random: () => 0.5 }, options)],
  ['grpc-js', createGrpcJsTransport],
])('TLS of the gRPC port by %s', (_name, create) => {
  let stop: () => Promise<void> = () => Promise.resolve();
  afterEach(() => stop());

  const serve = async (tls: ServerTls) => {
    const refusals: ClientRefusal[] = [];
    const { transport, address } = await startTransport(
      (deps, options) =>
        create({ ...deps, onClientRefused: (refusal) => refusals.push(refusal) }, options),
      undefined,
      { tls },
    );
    stop = () => transport.close(1_000);
    return { address, refusals };
  };

  const askPlainly = async (address: string): Promise<number> => {
    const client = createTestClient(address);
    const { code } = await client.ask({ domain: 'edge', descriptors: [] });
    client.close();
    return code;
  };

  it.each<[string, string | undefined, CallerFiles, string | undefined]>([
    ['answers the right client', 'edge.test', mine, undefined],
    ['answers one with any name where none is asked for', undefined, wild, undefined],
    ['answers one whose name matches by a wildcard', 'a.fleet.test', wild, undefined],
    ['answers one with the address that is asked for', '10.1.2.3', mine, undefined],
    ['refuses one with another name', 'other.test', mine, 'expected "other.test"'],
    ['refuses a wildcard for two labels', 'a.b.fleet.test', wild, 'expected "a.b.fleet.test"'],
    ['refuses one with another address', '10.1.2.4', mine, 'expected "10.1.2.4"'],
    ['takes no common name for a name', 'edge', mine, 'expected "edge"'],
    ['refuses one of another authority', 'edge.test', foreign, 'an unknown authority signed'],
    ['refuses one that has expired', 'edge.test', expired, 'its certificate has expired'],
    ['refuses one without a certificate', 'edge.test', nobody, 'it sent no certificate'],
  ])('%s', async (_what, clientName, files, reason) => {
    const { address, refusals } = await serve({ ...toPems(served, caFile), clientName });
    const code = await askOverTls(address, files);
    if (reason === undefined) {
      expect([code, refusals]).toEqual([status.OK, []]);
      return;
    }
    expect(code).toBe(status.UNAVAILABLE);
    await eventually(() => {
      expect(refusals.map((refusal) => refusal.reason)).toEqual([
        expect.stringContaining(reason) as string,
      ]);
    });
  });

  it('goes on after it refused somebody, and says who that was', async () => {
    const pems = toPems(served, caFile);
    const { address, refusals } = await serve({ ...pems, clientName: 'edge.test' });
    expect(await askOverTls(address, wild)).toBe(status.UNAVAILABLE);
    expect(await askOverTls(address, mine)).toBe(status.OK);
    expect(refusals).toEqual([
      {
        peer: '127.0.0.1',
        reason: 'its certificate is for "DNS:*.fleet.test", expected "edge.test"',
      },
    ]);
  });

  it('refuses plain text, and goes on', async () => {
    const { address, refusals } = await serve(toPems(served));
    expect(await askPlainly(address)).toBe(status.UNAVAILABLE);
    await eventually(() => {
      expect(refusals.map(({ reason }) => reason)).toEqual(['it does not speak TLS']);
    });
    expect(await askOverTls(address, nobody)).toBe(status.OK);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('speaks h2 over %s', async (version) => {
    const { address } = await serve(toPems(served));
    const ca = readFileSync(caFile);
    const socket = await shakeHands(address, { ca, minVersion: version, maxVersion: version });
    expect([socket.getProtocol(), socket.alpnProtocol]).toEqual([version, 'h2']);
    socket.destroy();
  });

  it('speaks no TLS before 1.2, and no other protocol than h2', async () => {
    const { address, refusals } = await serve(toPems(served));
    const ca = readFileSync(caFile);
    const old = {
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'ALL@SECLEVEL=0',
    } as const;
    await expect(shakeHands(address, { ca, ...old })).rejects.toThrow(/alert|protocol/i);
    await expect(shakeHands(address, { ca, ALPNProtocols: ['http/1.1'] })).rejects.toThrow(
      /alert/i,
    );
    await eventually(() => {
      expect(refusals.map(({ reason }) => reason)).toEqual([
        'it does not speak TLS 1.2 or later',
        'it does not speak HTTP/2 (ALPN h2)',
      ]);
    });
  });

  it('says nothing of probes that connect and leave', async () => {
    const { address, refusals } = await serve(toPems(served));
    const [host = '', port] = address.split(':');
    const socket = connect(Number(port), host);
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.destroy();
    expect(await askOverTls(address, nobody)).toBe(status.OK);
    expect(refusals).toEqual([]);
  });

  it('shows a renewed certificate to new connections, and keeps the others', async () => {
    const renewalsSubject = new Subject<TlsPems>();
    const { address } = await serve({ ...toPems(served), renewals$: renewalsSubject });
    const caller = createTlsCaller(address, nobody);
    expect(await caller.ask()).toBe(status.OK);
    const before = await serialShown(address, caFile);
    renewalsSubject.next(toPems(next));
    expect(await serialShown(address, caFile)).not.toBe(before);
    expect(await caller.ask()).toBe(status.OK);
    caller.close();
  });

  it('checks callers against a renewed authority, also those that come back', async () => {
    const renewalsSubject = new Subject<TlsPems>();
    const first = { ...toPems(served, caFile), renewals$: renewalsSubject };
    const { address } = await serve(first);
    expect(await askOverTls(address, mine)).toBe(status.OK);
    expect(await askOverTls(address, foreign)).toBe(status.UNAVAILABLE);
    const session = await sessionOf(address);
    renewalsSubject.next(toPems(next, stranger.caFile));
    expect(await askOverTls(address, foreign)).toBe(status.OK);
    expect(await askOverTls(address, mine)).toBe(status.UNAVAILABLE);
    // A ticket from before the change is worth nothing.
    const again = await shakeHands(address, { ca: readFileSync(caFile), session });
    expect(again.isSessionReused()).toBe(false);
    again.destroy();
  });

  async function sessionOf(address: string): Promise<Buffer> {
    const [ca, cert, key] = [caFile, mine.certFile, mine.keyFile].map((file) => readFileSync(file));
    const socket = await shakeHands(address, { ca, cert, key, maxVersion: 'TLSv1.2' });
    const session = socket.getSession() ?? Buffer.alloc(0);
    socket.destroy();
    return session;
  }

  it('loses no call while certificates are renewed under load', async () => {
    const renewalsSubject = new Subject<TlsPems>();
    const { address, refusals } = await serve({
      ...toPems(served, caFile),
      clientName: 'edge.test',
      renewals$: renewalsSubject,
    });
    const codes: number[] = [];
    const ok: number = status.OK;
    let isOver = false;
    const comeAndGo = async () => {
      while (!isOver) codes.push(await askOverTls(address, mine));
    };
    const stay = async () => {
      const caller = createTlsCaller(address, mine);
      while (!isOver) codes.push(await caller.ask());
      caller.close();
    };
    const load = Promise.all([comeAndGo(), comeAndGo(), stay(), stay()]);
    for (let renewal = 0; renewal < 20; renewal++) {
      const seen = codes.length;
      renewalsSubject.next(toPems(renewal % 2 === 0 ? next : served, caFile));
      await eventually(() => {
        expect(codes.length).toBeGreaterThan(seen + 20);
      });
    }
    isOver = true;
    await load;
    expect(codes.filter((code) => code !== ok)).toEqual([]);
    expect(refusals).toEqual([]);
  });
});
