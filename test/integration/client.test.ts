import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runClient } from '../../src/cli/run';
import { failure } from '../../src/core/errors';
import type { Decision } from '../../src/core/model';
import type { Answer } from '../../src/core/ports';
import { createGrpcJsTransport } from '../../src/transport/grpc/grpc-js/transport';
import type { GrpcTransportOptions } from '../../src/transport/grpc/options';
import { startTransport } from '../support/transport-harness';
import { freePort } from '../support/free-port';
import { TEST_CA, TEST_CERTIFICATE, TEST_KEY } from './transport.certificates';

const DECISION: Decision = {
  kind: 'decision',
  overallCode: 'OVER_LIMIT',
  statuses: [
    {
      code: 'OVER_LIMIT',
      currentLimit: { requestsPerUnit: 2, unit: 'HOUR', name: 'rule' },
      limitRemaining: 0,
      secondsUntilReset: 583,
    },
    {
      code: 'OK',
      currentLimit: undefined,
      limitRemaining: 4_294_967_295,
      secondsUntilReset: undefined,
    },
    { code: 'OK', currentLimit: undefined, limitRemaining: 0, secondsUntilReset: undefined },
  ],
  responseHeaders: [{ key: 'RateLimit-Limit', value: '2' }],
  dynamicMetadata: { owner: 'é', nested: { list: [1, false, null] } },
};
const ASK = [
  '-domain',
  'shop',
  '-descriptors',
  'user=ann,path=/a=b',
  '--descriptors=free=1',
  '-descriptors=x=',
];

describe('ratelimit-client', () => {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  async function start(
    answer: Answer | undefined = DECISION,
    options: Partial<GrpcTransportOptions> = {},
  ) {
    const service = await startTransport(createGrpcJsTransport, () => answer, options);
    cleanups.push(() => service.transport.close(0));
    return service;
  }

  it('asks what the flags say', async () => {
    const { address, requests } = await start();
    await runClient(['-dial_string', address, '-hits_addend', '3', ...ASK]);
    const none = { limit: undefined, hits: undefined, isNegativeHits: false };
    expect(requests()).toEqual([
      {
        domain: 'shop',
        hitsAddend: 3,
        descriptors: [
          {
            ...none,
            entries: [
              { key: 'user', value: 'ann' },
              { key: 'path', value: '/a=b' },
            ],
          },
          { ...none, entries: [{ key: 'free', value: '1' }] },
          { ...none, entries: [{ key: 'x', value: '' }] },
        ],
      },
    ]);
  });

  it.each([
    [['-descriptor_hits', '350'], [350n, 350n, 350n], false],
    [['-descriptor_hits=0'], [0n, 0n, 0n], false],
    [['-descriptor_hits', '1', '-descriptor_hits', '2', '-descriptor_hits=3'], [1n, 2n, 3n], false],
    [['-descriptor_hits=-4'], [4n, 4n, 4n], true],
  ])('sends hits of descriptors: %j', async (flags, hits, isNegativeHits) => {
    const { address, requests } = await start();
    await runClient(['-dial_string', address, ...flags, ...ASK]);
    const [asked] = requests();
    expect(asked?.descriptors.map((one) => BigInt(one.hits ?? -1))).toEqual(hits);
    expect(asked?.descriptors.map((one) => one.isNegativeHits)).toContain(isNegativeHits);
  });

  it.each([
    [['-descriptor_hits', '1.5'], '-descriptor_hits is "1.5", expected a whole number'],
    [
      ['-descriptor_hits', '1', '-descriptor_hits', '2'],
      '-descriptor_hits is given 2 times for 3 -descriptors: give it once, or once for each',
    ],
    [
      ['-explain', '-debug', 'https://localhost:6070'],
      '-debug is "https://localhost:6070", expected host:port of the debug port, such as localhost:6070',
    ],
    [
      ['-explain', '-debug', 'localhost'],
      '-debug is "localhost", expected host:port of the debug port, such as localhost:6070',
    ],
  ])('refuses %j', async (flags, message) => {
    const { exitCode, stderr } = await runClient([...flags, ...ASK]);
    expect([exitCode, stderr]).toEqual([1, `ratelimit-client: ${message}\n`]);
  });

  it('says what refused, where the answer does', async () => {
    const said = { limitedBy: 'llm.user', limitedByName: 'spend', limitedByLimit: 'in_flight' };
    const { address } = await start({ ...DECISION, dynamicMetadata: said });
    const { stdout } = await runClient(['-dial_string', address, ...ASK]);
    expect(stdout).toContain(
      'overall: OVER_LIMIT, limited by llm.user, "spend", its limit in_flight\n',
    );
  });

  it('prints lines for people and ends with 2 when over the limit', async () => {
    const { address } = await start();
    expect(await runClient([`--dial_string=${address}`, ...ASK])).toEqual({
      exitCode: 2,
      stderr: '',
      stdout:
        'overall: OVER_LIMIT\n' +
        '  user=ann,path=/a=b: OVER_LIMIT, limit 2 per hour, rule "rule", remaining 0, resets in 583s\n' +
        '  free=1: OK, unlimited\n' +
        '  x=: OK, no limit\n' +
        '  header RateLimit-Limit: 2\n',
    });
  });

  it.each([
    ['MINUTE', 5, 'per 5 minutes'],
    ['MINUTE', undefined, 'per minute'],
    ['UNKNOWN', undefined, ''],
  ] as const)('prints a period of %s times %s as far as it is sent', async (unit, count, words) => {
    const currentLimit = { requestsPerUnit: 100, unit, name: '', unitMultiplier: count };
    const status = { code: 'OK', currentLimit, limitRemaining: 7, secondsUntilReset: 9 } as const;
    const { address } = await start({ ...DECISION, overallCode: 'OK', statuses: [status] });
    const { stdout } = await runClient(['-dial_string', address, ...ASK]);
    const period = words === '' ? '' : ` ${words}`;
    expect(stdout).toContain(`OK, limit 100${period}, remaining 7, resets in 9s\n`);
    const { stdout: json } = await runClient(['-dial_string', address, '-json', ...ASK]);
    const { statuses } = JSON.parse(json) as { statuses: readonly { currentLimit: object }[] };
    expect(statuses[0]?.currentLimit).toEqual({
      requestsPerUnit: 100,
      ...(unit !== 'UNKNOWN' && { unit }),
      ...(count !== undefined && { unitMultiplier: count }),
    });
  });

  it('prints proto3 JSON and ends with 0 when not', async () => {
    const { address } = await start({ ...DECISION, overallCode: 'OK' });
    const { exitCode, stdout, stderr } = await runClient([
      '-dial_string',
      address,
      '-json',
      ...ASK,
    ]);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({
      overallCode: 'OK',
      statuses: [
        {
          code: 'OVER_LIMIT',
          currentLimit: { requestsPerUnit: 2, unit: 'HOUR', name: 'rule' },
          durationUntilReset: '583s',
        },
        { code: 'OK', limitRemaining: 4_294_967_295 },
        { code: 'OK' },
      ],
      responseHeadersToAdd: [{ key: 'RateLimit-Limit', value: '2' }],
      dynamicMetadata: { owner: 'é', nested: { list: [1, false, null] } },
    });
  });

  it('ends with 1 and the reason when the service refuses', async () => {
    const { address } = await start(failure('invalid_request', 'domain is empty'));
    expect(await runClient(['-dial_string', address, ...ASK])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `ratelimit-client: the service at ${address} answered INVALID_ARGUMENT: domain is empty\n`,
    });
  });

  it("takes -oltp-protocol of the reference's client, and says that it does nothing", async () => {
    const { address } = await start();
    const dial = ['-dial_string', address];
    const told = await runClient([...dial, '-oltp-protocol', 'grpc', ...ASK]);
    expect([told.exitCode, told.stderr]).toEqual([
      2,
      'ratelimit-client: -oltp-protocol has no effect: this client exports no traces\n',
    ]);
    const silent = await runClient([...dial, '-oltp-protocol=', ...ASK]);
    expect([silent.exitCode, silent.stderr]).toEqual([2, '']);
  });

  it('says what to do when nobody listens', async () => {
    const address = `127.0.0.1:${String(await freePort())}`;
    const { exitCode, stderr } = await runClient(['-dial_string', address, ...ASK]);
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      `ratelimit-client: cannot reach the service at ${address}: connection refused (ECONNREFUSED ${address}); ` +
        'is it running there? Give another address with -dial_string\n',
    );
  });

  it('says that no gRPC is spoken on an HTTP port', async () => {
    const server = createServer((_request, response) => response.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(async () => {
      await new Promise((resolve) => server.close(resolve));
    });
    const address = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const { exitCode, stderr } = await runClient(['-dial_string', address, ...ASK]);
    expect([exitCode, stderr]).toEqual([
      1,
      `ratelimit-client: ${address} does not speak gRPC; is it an HTTP port? Give the address of the gRPC port with -dial_string\n`,
    ]);
  });

  it.each([
    [404, ' (HTTP status 404)'],
    [503, ' (HTTP status 503)'],
    [200, ''],
  ])('says that no gRPC is spoken on an HTTP/2 port that answers %i', async (status, said) => {
    const server = createHttp2Server((_request, response) => {
      response.writeHead(status, { 'content-type': 'text/html' }).end('hello');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(async () => {
      await new Promise((resolve) => server.close(resolve));
    });
    const address = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const { exitCode, stderr } = await runClient(['-dial_string', address, ...ASK]);
    expect([exitCode, stderr]).toEqual([
      1,
      `ratelimit-client: ${address} does not speak gRPC${said}; is it an HTTP port? Give the address of the gRPC port with -dial_string\n`,
    ]);
  });

  it('gives up after -timeout', async () => {
    const service = await startTransport(createGrpcJsTransport, () => undefined);
    cleanups.push(() => service.transport.close(0));
    const { exitCode, stderr } = await runClient([
      '-dial_string',
      service.address,
      '-timeout',
      '100ms',
      ...ASK,
    ]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`no answer from ${service.address} within 100 ms`);
    expect(stderr).toContain('-timeout');
  });

  it('speaks TLS and shows a certificate', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-client-'));
    cleanups.push(() => rm(folder, { recursive: true }));
    const [ca, cert, key] = ['ca.pem', 'cert.pem', 'key.pem'].map((name) => join(folder, name));
    await writeFile(ca ?? '', TEST_CA);
    await writeFile(cert ?? '', TEST_CERTIFICATE);
    await writeFile(key ?? '', TEST_KEY);
    const { address } = await start(DECISION, {
      tls: {
        certificate: Buffer.from(TEST_CERTIFICATE),
        key: Buffer.from(TEST_KEY),
        clientCa: Buffer.from(TEST_CA),
      },
    });
    const trust = ['-dial_string', address, `-tls_ca_cert=${ca ?? ''}`, ...ASK];
    const name = ['-tls_server_name', 'rls.test'];
    const shown = ['-tls_cert', cert ?? '', '-tls_key', key ?? ''];
    expect(await runClient([...trust, ...name, ...shown])).toMatchObject({ exitCode: 2 });
    const asInTheReference = [
      ...['-grpc-use-tls', '-grpc-server-ca-file', ca ?? ''],
      ...['--grpc-cert-file', cert ?? '', `--grpc-key-file=${key ?? ''}`],
    ];
    const dial = ['-dial_string', address];
    expect(await runClient([...dial, ...asInTheReference, ...name, ...ASK])).toMatchObject({
      exitCode: 2,
    });
    const wrongName = await runClient([...trust, ...shown]);
    expect([wrongName.exitCode, wrongName.stderr]).toEqual([
      1,
      expect.stringContaining('cannot reach'),
    ]);
    expect(await runClient([...trust, ...name])).toMatchObject({ exitCode: 1 });
    const missing = await runClient(['-tls_ca_cert', join(folder, 'nope.pem'), ...ASK]);
    expect(missing.stderr).toMatch(/-tls_ca_cert: cannot read the file: .*ENOENT/);
  });

  it.each([
    [[], '-domain is missing'],
    [['-domain', 'd'], '-descriptors is missing'],
    [['-domain'], '-domain needs a value'],
    [
      ['-domain', 'd', '-descriptors', 'novalue'],
      '-descriptors: "novalue" of "novalue" is not <key>=<value>',
    ],
    [
      ['-domain', 'd', '-descriptors', 'a=1,=2'],
      '-descriptors: "=2" of "a=1,=2" is not <key>=<value>',
    ],
    [['-nope'], 'no such flag: -nope'],
    [['-__proto__'], 'no such flag: -__proto__'],
    [['domain'], '"domain" is not a flag'],
    [['-json=maybe', ...ASK], '-json is "maybe", expected true or false'],
    [
      ['-hits_addend', '-1', ...ASK],
      '-hits_addend is "-1", expected a whole number from 0 to 4294967295',
    ],
    [['-hits_addend', '4294967296', ...ASK], '-hits_addend is "4294967296"'],
    [['-timeout', 'soon', ...ASK], '-timeout is "soon", expected a duration such as 500ms or 5s'],
    [['-timeout', '0s', ...ASK], '-timeout is "0s"'],
    [['-tls_cert', 'x', ...ASK], '-tls_cert and -tls_key go together: give both or neither'],
  ])('refuses %j with %s', async (args, message) => {
    const { exitCode, stdout, stderr } = await runClient(args);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`ratelimit-client: ${message}`);
  });

  it.each(['-help', '--help', '-h'])('prints its flags for %s', async (flag) => {
    const { exitCode, stdout } = await runClient([flag]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('-dial_string ADDRESS');
    expect(stdout).toContain('(default localhost:8081)');
    expect(stdout).toContain('exit code: 0 OK, 2 OVER_LIMIT, 1 error');
  });
});
