import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, type CertificateFiles } from '../support/certificates';
import { eventually } from '../support/edge/eventually';
import { eventuallyWithin } from '../support/edge/figure';
import { startService, stopServices, type Service } from '../support/edge/service';
import {
  askOverTls,
  createTlsCaller,
  isRefused,
  SERVER_NAME,
  serialShown,
} from '../support/edge/tls-caller';
import { PROCESSES } from '../support/edge/test-workers';

const authority = createAuthority();
const { caFile } = authority;
const pairs = ['one', 'two', 'three'].map((name) => authority.issue(name, [SERVER_NAME]));
const [one, two, three] = pairs as [CertificateFiles, CertificateFiles, CertificateFiles];

/** Nothing of any key may be seen anywhere: neither a line of its text nor its head. */
const SECRETS = pairs.flatMap(({ keyFile }) =>
  readFileSync(keyFile, 'utf8')
    .split('\n')
    .filter((line) => line.length > 20),
);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-tls-'));
});
afterEach(async () => {
  await stopServices();
  rmSync(folder, { recursive: true });
});
afterAll(() => {
  rmSync(authority.directory, { recursive: true });
});

const at = (...names: readonly string[]) => join(folder, ...names);
const put = ({ certFile, keyFile }: CertificateFiles, directory = folder) => {
  copyFileSync(certFile, join(directory, 'tls.crt'));
  copyFileSync(keyFile, join(directory, 'tls.key'));
};

const start = (env: Readonly<Record<string, string>> = {}, waitUntilUp = true) =>
  startService({
    waitUntilUp,
    env: {
      GRPC_SERVER_USE_TLS: 'true',
      GRPC_SERVER_TLS_CERT: at('tls.crt'),
      GRPC_SERVER_TLS_KEY: at('tls.key'),
      LOG_LEVEL: 'debug',
      ...env,
    },
  });

const serialOf = (service: Service) => serialShown(service.grpc, caFile);

const statistic = async (service: Service, name: string): Promise<number> => {
  const text = await (await fetch(`${service.debug}/stats`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${name}:`));
  return Number(line?.split(':')[1] ?? '0');
};

const changed = (service: Service, from: string) =>
  eventuallyWithin(
    async () => {
      const now = await serialOf(service);
      if (now === from) throw new Error('the old certificate is served');
      return now;
    },
    { name: 'seen', belowMs: 5_000, everyMs: 50, of: [service.child] },
  );

const LOADED = 'ratelimit.service.certificate_load_success';
const REFUSED = 'ratelimit.service.certificate_load_error';

describe.each(['wire', 'grpc-js'])('certificates of the gRPC port by %s', (transport) => {
  const env = { GRPC_TRANSPORT: transport };

  it('are served within 5 s after a write and after a rename', async () => {
    put(one);
    const service = await start(env);
    const caller = createTlsCaller(service.grpc, { caFile });
    expect(await caller.ask()).toBe(0);
    const first = await serialOf(service);
    put(two);
    const second = await changed(service, first);
    for (const [file, name] of [
      [three.certFile, 'tls.crt'],
      [three.keyFile, 'tls.key'],
    ] as const) {
      copyFileSync(file, at(`${name}.new`));
      renameSync(at(`${name}.new`), at(name));
    }
    await changed(service, second);
    // The connection from before all of it goes on.
    expect(await caller.ask()).toBe(0);
    caller.close();
    await eventually(async () => {
      expect(await statistic(service, LOADED)).toBe(3);
    });
    expect(await statistic(service, REFUSED)).toBe(0);
    expect(await service.stop()).toBe(0);
  });

  it('are served within 5 s after the swap of a Kubernetes secret', async () => {
    const version = (name: string, pair: CertificateFiles) => {
      mkdirSync(at(name));
      put(pair, at(name));
      symlinkSync(name, at('..data.new'));
      renameSync(at('..data.new'), at('..data'));
    };
    version('..v1', one);
    for (const name of ['tls.crt', 'tls.key']) symlinkSync(join('..data', name), at(name));
    const service = await start(env);
    const first = await serialOf(service);
    version('..v2', two);
    rmSync(at('..v1'), { recursive: true });
    await changed(service, first);
    expect(await statistic(service, REFUSED)).toBe(0);
  });
});

it('keeps the old certificate when the new one is broken, logs that and counts it', async () => {
  put(one);
  const service = await start();
  const first = await serialOf(service);
  const breaks: readonly (readonly [spoil: () => void, expected: RegExp])[] = [
    [
      () => {
        copyFileSync(two.keyFile, at('tls.key'));
      },
      /GRPC_SERVER_TLS_KEY: expected the private key of the certificate in GRPC_SERVER_TLS_CERT: the key does not belong to the certificate/,
    ],
    [
      () => {
        rmSync(at('tls.key'));
      },
      /GRPC_SERVER_TLS_KEY: cannot read the file: it does not exist \(ENOENT/,
    ],
  ];
  for (const [index, [spoil, expected]] of breaks.entries()) {
    spoil();
    await eventuallyWithin(
      async () => {
        expect(await statistic(service, REFUSED)).toBe(index + 1);
      },
      { name: 'seen', belowMs: 5_000, everyMs: 50, of: [service.child] },
    );
    await eventually(() => {
      expect(service.output()).toMatch(expected);
    });
    expect(await serialOf(service)).toBe(first);
    expect(await askOverTls(service.grpc, { caFile })).toBe(0);
  }
  put(two);
  await changed(service, first);
  for (const secret of ['PRIVATE KEY', ...SECRETS]) expect(service.output()).not.toContain(secret);
});

it.each<[string, () => void, string]>([
  [
    'there are none',
    () => undefined,
    'GRPC_SERVER_TLS_CERT: cannot read the file: it does not exist (ENOENT',
  ],
  [
    'the key is of another',
    () => {
      put(one);
      copyFileSync(two.keyFile, at('tls.key'));
    },
    'GRPC_SERVER_TLS_KEY: expected the private key of the certificate in GRPC_SERVER_TLS_CERT',
  ],
  [
    'the two are swapped',
    () => {
      copyFileSync(one.keyFile, at('tls.crt'));
      copyFileSync(one.certFile, at('tls.key'));
    },
    'GRPC_SERVER_TLS_CERT: expected a certificate in PEM, found none',
  ],
])('ends with 1 and says why when %s at the start', async (_, prepare, expected) => {
  prepare();
  const service = await start({}, false);
  const [code] = (await once(service.child, 'close')) as [number];
  expect(code).toBe(1);
  expect(service.output()).toContain(expected);
  for (const secret of ['PRIVATE KEY', ...SECRETS]) expect(service.output()).not.toContain(secret);
});

it('warns of a certificate that has expired', async () => {
  put(authority.issue('old', [SERVER_NAME], { isExpired: true }));
  const service = await start({ LOG_LEVEL: 'warning' });
  await eventually(() => {
    expect(service.output()).toContain('the certificate of the gRPC port has expired');
  });
});

it('counts the clients that it refused, and warns of them now and then', async () => {
  put(one);
  const service = await start({
    GRPC_CLIENT_TLS_CACERT: caFile,
    GRPC_CLIENT_TLS_SAN: 'edge.test',
    LOG_LEVEL: 'warning',
  });
  for (let i = 0; i < 3; i++) expect(await isRefused(service.grpc, two)).toBe(true);
  expect(await askOverTls(service.grpc, authority.issue('edge', ['edge.test']))).toBe(0);
  await eventually(async () => {
    expect(await statistic(service, 'ratelimit_server.tls_handshake_error')).toBe(3);
  });
  const lines = await eventually(() => {
    const found = service.output().match(/refused a gRPC client.*/g);
    // Each process warns for itself.
    expect(found).toHaveLength(PROCESSES.deciding);
    return found;
  });
  expect(lines?.[0]).toContain('expected \\"edge.test\\"');
});
