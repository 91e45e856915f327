import { handshakeReason } from '../../../../src/transport/grpc/tls-server';

const ofOpenSsl = (reason: string) =>
  Object.assign(new Error(`80A0:error:0A00:SSL routines:f:${reason}:../ssl/record.c:350:`), {
    code: 'ERR_SSL_SOMETHING',
    reason,
  });

it.each<[string, string]>([
  ['peer did not return a certificate', 'it sent no certificate'],
  ['http request', 'it does not speak TLS'],
  ['wrong version number', 'it does not speak TLS'],
  ['unsupported protocol', 'it does not speak TLS 1.2 or later'],
  ['no application protocol', 'it does not speak HTTP/2 (ALPN h2)'],
  ['no shared cipher', 'no common TLS cipher'],
  ['tlsv1 alert unknown ca', 'it does not know the authority of our certificate'],
  ['sslv3 alert certificate expired', 'it considers our certificate expired'],
  ['sslv3 alert bad certificate', 'it rejected our certificate'],
  ['sslv3 alert certificate unknown', 'it rejected our certificate'],
  ['unexpected eof while reading', 'the TLS handshake failed (ERR_SSL_SOMETHING)'],
])('says what OpenSSL means by "%s" and never its own words', (said, expected) => {
  expect(handshakeReason(ofOpenSsl(said))).toBe(expected);
});

it.each<[string, string]>([
  ['CERT_HAS_EXPIRED', 'its certificate has expired (CERT_HAS_EXPIRED)'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet (CERT_NOT_YET_VALID)'],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'an unknown authority signed its certificate (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
  ],
  [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'an unknown authority signed its certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
  ],
  ['INVALID_PURPOSE', 'its certificate is not accepted (INVALID_PURPOSE)'],
])('says what is wrong with a certificate: %s', (code, expected) => {
  const error = ofOpenSsl('certificate verify failed');
  expect(handshakeReason(error, code)).toBe(expected);
});

it('says that a client took too long', () => {
  const error = Object.assign(new Error('TLS handshake timeout'), { code: 'ERR_TLS_HANDSHAKE' });
  expect(handshakeReason(error)).toBe('it did not finish the handshake in 10 seconds');
});
