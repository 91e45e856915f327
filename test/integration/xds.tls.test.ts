import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ServerCredentials } from '@grpc/grpc-js';
import type { ClientTls } from '../../src/rule-sources/xds/connect';
import { createAuthority } from '../support/certificates';
import { eventually } from '../support/edge/eventually';
import { followServer, type XdsFollower } from '../support/edge/xds-follower';
import { startAdsServer, type AdsServer } from '../support/edge/xds-server';
import { response, userLimit } from '../support/xds-messages';

const authority = createAuthority('xds authority');
const foreign = createAuthority('foreign authority');
const serverFiles = authority.issue('xds', ['xds.test', '127.0.0.1']);
const namedFiles = authority.issue('named', ['xds.test']);
const clientFiles = authority.issue('client', ['client.test']);
const foreignFiles = foreign.issue('stranger', ['client.test']);

let server: AdsServer;
let follower: XdsFollower | undefined;

jest.setTimeout(30_000);

afterEach(() => {
  follower?.stop();
  server.stop();
});
afterAll(() => {
  rmSync(authority.directory, { recursive: true });
  rmSync(foreign.directory, { recursive: true });
});

async function start({ certFile, keyFile } = serverFiles): Promise<void> {
  const pair = { private_key: readFileSync(keyFile), cert_chain: readFileSync(certFile) };
  const credentials = ServerCredentials.createSsl(readFileSync(authority.caFile), [pair], true);
  server = await startAdsServer({
    credentials,
    onRequest: (stream, request) => {
      if (request.responseNonce === undefined || request.responseNonce === '')
        stream.send(response('v1', 'n1', [userLimit('shop', 5)]));
    },
  });
}

function follow(tls: Partial<ClientTls>): XdsFollower {
  const { certFile, keyFile, caFile } = clientFiles;
  const files = { certFile, keyFile, caFile, serverName: undefined, ...tls };
  follower = followServer({ target: server.target, tls: files });
  return follower;
}

const PLAIN = { certFile: undefined, keyFile: undefined };

describe('TLS to the management server', () => {
  it('shows its certificate and checks that of the server', async () => {
    await start();
    expect(await follow({}).loaded(1)).toBe('shop=5');
  });

  it('looks for another name than that of the target when it is told to', async () => {
    await start(namedFiles);
    expect(await follow({ serverName: 'xds.test' }).loaded(1)).toBe('shop=5');
  });

  it.each<[string, Partial<ClientTls>, RegExp]>([
    ['a name that is not in the certificate', { serverName: 'other.test' }, /not for other\.test/],
    [
      'an authority that did not sign it',
      { caFile: foreign.caFile },
      /an unknown authority signed the server's certificate/,
    ],
    [
      'a certificate of another authority',
      foreignFiles,
      /does not know the authority|closed the connection/,
    ],
    ['no certificate', PLAIN, /requires a client certificate|closed the connection/],
    [
      'a file that is not there',
      { caFile: join(authority.directory, 'gone.pem') },
      /CONFIG_GRPC_XDS_SERVER_TLS_CACERT: cannot read the file: it does not exist \(ENOENT/,
    ],
    [
      'a key that is none',
      { keyFile: clientFiles.certFile },
      /the files of CONFIG_GRPC_XDS_\*_TLS_\* cannot be used/,
    ],
  ])('gets no rules with %s, and says so', async (_, tls, expected) => {
    await start();
    const ca = tls === foreignFiles ? { caFile: authority.caFile } : {};
    const { warnings, loads } = follow({ ...tls, ...ca });
    await eventually(() => {
      expect(warnings.length).toBeGreaterThan(1);
    });
    expect(warnings[0]).toMatch(expected);
    expect(warnings.join()).not.toContain('PRIVATE KEY');
    expect(loads).toEqual([]);
  });

  it('gets no rules in plain text from a port that speaks TLS', async () => {
    await start();
    follower = followServer({ target: server.target });
    const { warnings, loads } = follower;
    await eventually(() => {
      expect(warnings.length).toBeGreaterThan(1);
    });
    expect(loads).toEqual([]);
  });

  it('reads the files again for each connection', async () => {
    await start();
    const caFile = join(authority.directory, 'later.pem');
    const following = follow({ caFile });
    await eventually(() => {
      expect(following.warnings.length).toBeGreaterThan(0);
    });
    copyFileSync(authority.caFile, caFile);
    expect(await following.loaded(1)).toBe('shop=5');
  });
});
