import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toReason } from '../../../src/platform/errors';
import { handshakeReason } from '../../../src/transport/grpc/tls-server';

const page = readFileSync(join(__dirname, '../../../docs/security.md'), 'utf8');

it('docs/security.md words what went wrong as the log does', () => {
  const openSsl = 'error:05800074:x509 certificate routines::key values mismatch';
  expect(page).toContain(`expected the private key …: ${toReason(new Error(openSsl))}\``);
  for (const said of [
    'CERT_HAS_EXPIRED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'peer did not return a certificate',
    'wrong version number',
    'tlsv1 alert unknown ca',
  ])
    expect(page).toContain(handshakeReason({ name: 'Error', message: said }));
});
