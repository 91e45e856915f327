import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { checkPems } from '../../../../src/app/tls/certificates';
import { createAuthority } from '../../../support/certificates';

const authority = createAuthority();
const files = authority.issue('one', ['rls.test']);
const other = authority.issue('two');
const read = (file: string) => readFileSync(file);
const good = { certificate: read(files.certFile), key: read(files.keyFile), clientCa: undefined };
const ca = read(files.caFile);
const encrypted = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'hush' },
}).privateKey;

afterAll(() => {
  rmSync(authority.directory, { recursive: true });
});

describe('checkPems', () => {
  it('says for which names a good certificate is, and until when', () => {
    const { names, validTo } = checkPems({ ...good, clientCa: ca });
    expect(names).toBe('DNS:rls.test');
    expect(validTo).toBe('Dec 31 23:59:59 2049 GMT');
    const nameless = { ...good, certificate: read(other.certFile), key: read(other.keyFile) };
    expect(checkPems(nameless).names).toBe('CN=two');
  });

  it('takes a chain, with text between its certificates', () => {
    const certificate = Buffer.concat([good.certificate, Buffer.from('\nsubject: ca\n'), ca]);
    expect(checkPems({ ...good, certificate }).names).toBe('DNS:rls.test');
  });

  const cut = (pem: Buffer) => pem.subarray(0, pem.length - 40);
  const wrong = Buffer.from('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
  it.each([
    [
      'no certificate',
      { certificate: Buffer.alloc(0) },
      'GRPC_SERVER_TLS_CERT: expected a certificate in PEM, found none',
    ],
    [
      'half a certificate',
      { certificate: cut(good.certificate) },
      'GRPC_SERVER_TLS_CERT: expected complete certificates, found one that is cut off',
    ],
    [
      'half a chain',
      { certificate: Buffer.concat([good.certificate, cut(ca)]) },
      'GRPC_SERVER_TLS_CERT: expected complete certificates, found one that is cut off',
    ],
    [
      'what is no certificate',
      { certificate: wrong },
      'GRPC_SERVER_TLS_CERT: expected a certificate in PEM: ',
    ],
    [
      'the key of another',
      { key: read(other.keyFile) },
      'GRPC_SERVER_TLS_KEY: expected the private key of the certificate in GRPC_SERVER_TLS_CERT: ',
    ],
    ['no key', { key: Buffer.alloc(0) }, 'GRPC_SERVER_TLS_KEY: expected the private key'],
    [
      'a key with a pass phrase',
      { key: Buffer.from(encrypted) },
      'GRPC_SERVER_TLS_KEY: expected the private key',
    ],
    [
      'no authority',
      { clientCa: Buffer.from('x') },
      'GRPC_CLIENT_TLS_CACERT: expected a certificate in PEM, found none',
    ],
    [
      'a broken authority',
      { clientCa: wrong },
      'GRPC_CLIENT_TLS_CACERT: expected a certificate in PEM: ',
    ],
  ])('refuses %s, and never shows a key', (_, change, expected) => {
    let error: unknown;
    try {
      checkPems({ ...good, ...change });
    } catch (thrown) {
      error = thrown;
    }
    const { message } = error as Error;
    expect(message.startsWith(expected)).toBe(true);
    for (const pem of [good.key, read(other.keyFile), Buffer.from(encrypted)]) {
      const [, line = ''] = pem.toString().split('\n');
      expect(`${message} ${String((error as Error).cause)}`).not.toContain(line);
    }
  });
});
