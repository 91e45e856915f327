import { isIP, type Socket } from 'node:net';
import { createServer, type SecureContextOptions, type TLSSocket } from 'node:tls';
import type { ClientRefusal, ServerTls, TlsPems } from './options';

/** Time limit for a handshake, after which the connection is closed. */
const HANDSHAKE_MS = 10_000;

/** OpenSSL's text is in `reason`; the message contains its file and line too. */
type OpenSslError = NodeJS.ErrnoException & { readonly reason?: string };

/** Messages of Node or OpenSSL for failed handshakes, and their meaning. */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired'],
  [/^CERT_NOT_YET_VALID$/, 'its certificate is not valid yet'],
  [/^CERT_REVOKED$/, 'its certificate was revoked'],
  [/UNABLE_TO|SELF_SIGNED|UNTRUSTED/, 'an unknown authority signed its certificate'],
  [/^[A-Z_]+$/, 'its certificate is not accepted'],
  [/did not return a certificate/, 'it sent no certificate'],
  [/http request|wrong version|packet length/, 'it does not speak TLS'],
  [/unsupported protocol|version too low/, 'it does not speak TLS 1.2 or later'],
  [/no application protocol/, 'it does not speak HTTP/2 (ALPN h2)'],
  [/shared cipher|signature algorithm|suitable/, 'no common TLS cipher'],
  [/alert unknown ca/, 'it does not know the authority of our certificate'],
  [/alert .*expired/, 'it considers our certificate expired'],
  [/alert .*(certificate|access denied)/, 'it rejected our certificate'],
  [/handshake timeout/i, 'it did not finish the handshake in 10 seconds'],
];

interface TlsServerDeps {
  readonly accept: (socket: Socket) => void;
  readonly onClientRefused: (refusal: ClientRefusal) => void;
}

/** TLS 1.2 or later with ALPN h2; accepted sockets have presented the required certificate. */
export function createTlsServer(
  { accept, onClientRefused }: TlsServerDeps,
  tls: ServerTls,
  options: { readonly noDelay: boolean; readonly allowHalfOpen: boolean },
) {
  const { clientName } = tls;
  const wantsCertificate = tls.clientCa !== undefined;
  const server = createServer({
    ...options,
    ...toContext(tls),
    // A client without ALPN is assumed to speak HTTP/2; one that offers only other protocols is refused.
    ALPNProtocols: ['h2'],
    handshakeTimeout: HANDSHAKE_MS,
    // OpenSSL refuses: our check alone would accept a resumed session without a certificate.
    ...(wantsCertificate && { requestCert: true, rejectUnauthorized: true }),
  });
  const refuse = (socket: TLSSocket, reason: string) => {
    onClientRefused({ peer: socket.remoteAddress, reason });
    socket.destroy();
  };
  server.on('secureConnection', (socket) => {
    socket.on('error', () => undefined);
    if (clientName !== undefined && !isNamed(socket, clientName)) {
      const { subjectAltName } = socket.getPeerX509Certificate() ?? {};
      const names = JSON.stringify(subjectAltName ?? '');
      refuse(socket, `its certificate is for ${names}, expected ${JSON.stringify(clientName)}`);
      return;
    }
    accept(socket);
  });
  server.on('tlsClientError', (error: OpenSslError, socket) => {
    // A string here, though its type is Error.
    const authorizationError = socket.authorizationError as unknown as string | null | undefined;
    // Probes of the port connect and leave: not worth a report.
    if (authorizationError == null && error.code === 'ECONNRESET') return;
    refuse(socket, handshakeReason(error, authorizationError ?? undefined));
  });
  return {
    server,
    /** Uses these for later handshakes; connections keep their certificates. */
    renew: (pems: TlsPems) => {
      server.setSecureContext(toContext(pems));
    },
  };
}

/** Why a handshake failed, in words for an operator; a cause without words is named by Node's code. */
export function handshakeReason(
  { code, reason, message }: OpenSslError,
  authorizationError?: string,
): string {
  const text = authorizationError ?? reason ?? message;
  const words = CAUSES.find(([pattern]) => pattern.test(text))?.[1];
  if (words === undefined) return `the TLS handshake failed (${code ?? 'unknown'})`;
  return authorizationError === undefined ? words : `${words} (${authorizationError})`;
}

function toContext({ certificate, key, clientCa }: TlsPems): SecureContextOptions {
  return {
    cert: certificate,
    key,
    minVersion: 'TLSv1.2',
    ...(clientCa !== undefined && { ca: clientCa }),
  };
}

/** As in the reference: by the certificate's alternative names only, `*` for one whole label. */
function isNamed(socket: TLSSocket, name: string): boolean {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return false;
  const found =
    isIP(name) === 0
      ? certificate.checkHost(name, { subject: 'never', partialWildcards: false })
      : certificate.checkIP(name);
  return found !== undefined;
}
