import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { TlsPems } from '../../transport/grpc/options';
import { toReason } from '../../platform/errors';

/**
 * The certificate's description for the log. Throws, naming the setting, when a caller could not be served with these: no
 * certificate, half of one, a key of another. The message never contains a key.
 */
export function checkPems({ certificate, key, clientCa }: TlsPems) {
  const [leaf] = readCertificates('GRPC_SERVER_TLS_CERT', certificate);
  try {
    createSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' });
  } catch (error) {
    const expected = 'expected the private key of the certificate in GRPC_SERVER_TLS_CERT';
    throw new Error(`GRPC_SERVER_TLS_KEY: ${expected}: ${toReason(error)}`, { cause: error });
  }
  if (clientCa !== undefined) readCertificates('GRPC_CLIENT_TLS_CACERT', clientCa);
  const { validFrom, validTo } = leaf;
  return { names: leaf.subjectAltName ?? leaf.subject, validFrom, validTo };
}

const BEGIN = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/g;
const WHOLE = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^-]*-----END \1-----/g;

function readCertificates(
  setting: string,
  pem: Buffer,
): readonly [X509Certificate, ...X509Certificate[]] {
  const text = pem.toString('latin1');
  const blocks = text.match(WHOLE) ?? [];
  const begun = text.match(BEGIN)?.length ?? 0;
  if (begun > blocks.length)
    throw new Error(`${setting}: expected complete certificates, found one that is cut off`);
  try {
    const [leaf, ...chain] = blocks.map((block) => new X509Certificate(block));
    if (leaf !== undefined) return [leaf, ...chain];
  } catch (error) {
    throw new Error(`${setting}: expected a certificate in PEM: ${toReason(error)}`, {
      cause: error,
    });
  }
  throw new Error(`${setting}: expected a certificate in PEM, found none`);
}
