import { defer, map, type Observable } from 'rxjs';
import { createStopSignal, renewWhenGood } from '../../../streams';
import type { Statistics } from '../../core/ports';
import type { Logger } from '../../platform/logger';
import type { GrpcTlsSettings } from '../../settings/servers';
import type { TlsPems, ClientRefusal } from '../../transport/grpc/options';
import { toReason } from '../../platform/errors';
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { readPem, readPemNow } from '../../platform/tls-files';

export interface CertificatesDeps {
  readonly statistics: Pick<Statistics, 'count' | 'gauge'>;
  readonly logger: Logger;
}

/** The certificates of the gRPC port, read again whenever their files change. */
export interface Certificates {
  readonly first: TlsPems;
  /** Each successful change. One subscriber; completes with `close`. */
  readonly renewals$: Observable<TlsPems>;
  close(): void;
}

/** Three small files: cheap enough to read them all, so that no kind of swap is missed. */
const LOOK_EVERY_MS = 1_000;

const LOADED = 'ratelimit.service.certificate_load_success';
const REFUSED = 'ratelimit.service.certificate_load_error';
/** Unix time in seconds, so that an alert can precede it. */
const END = 'ratelimit.service.certificate_end_seconds';

/** Throws when the files cannot be used at the start; later the last good ones stay in use. */
export function createCertificates(
  files: GrpcTlsSettings,
  { statistics, logger }: CertificatesDeps,
): Certificates {
  const stopping = createStopSignal();
  const first = readPemsNow(files);
  let endMs = NaN;
  const announce = (pems: TlsPems) => {
    const { names, validTo } = checkPems(pems);
    endMs = Date.parse(validTo);
    statistics.count(LOADED, 1);
    logger.info('loaded the certificate of the gRPC port', { names, validTo });
    if (endMs < Date.now()) {
      logger.warn('the certificate of the gRPC port has expired', { names, validTo });
    }
  };
  announce(first);
  const removeGauge = statistics.gauge(END, () => endMs / 1_000);
  return {
    first,
    renewals$: renewWhenGood({
      first,
      everyMs: LOOK_EVERY_MS,
      look: () => defer(() => readPems(files)),
      isSame: isSamePems,
      check(pems) {
        const { validFrom, validTo } = checkPems(pems);
        const now = Date.now();
        const isValid = Date.parse(validFrom) <= now && now < Date.parse(validTo);
        // The one in use has expired too.
        if (isValid || endMs < now) return;
        throw new Error(
          `GRPC_SERVER_TLS_CERT: the certificate is valid from ${validFrom} to ${validTo}, which is not now`,
        );
      },
      onFault: (error) => {
        statistics.count(REFUSED, 1);
        const reason = toReason(error);
        logger.error(
          'the new certificate of the gRPC port cannot be used, the old one stays in use',
          {
            reason,
          },
        );
      },
    }).pipe(
      map((pems) => {
        announce(pems);
        return pems;
      }),
      stopping.until(),
    ),
    close: () => {
      removeGauge();
      stopping.stop();
    },
  };
}

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

/** The files of GRPC_SERVER_TLS_CERT, GRPC_SERVER_TLS_KEY and GRPC_CLIENT_TLS_CACERT. Rejects naming the setting. */
async function readPems(files: GrpcTlsSettings): Promise<TlsPems> {
  const { certFile, keyFile, clientCaFile } = files;
  const [certificate, key, clientCa] = await Promise.all([
    readPem(certFile, 'GRPC_SERVER_TLS_CERT'),
    readPem(keyFile, 'GRPC_SERVER_TLS_KEY'),
    readPem(clientCaFile, 'GRPC_CLIENT_TLS_CACERT'),
  ]);
  return { certificate, key, clientCa };
}

/** Reads them synchronously, for the start. Throws. */
function readPemsNow({ certFile, keyFile, clientCaFile }: GrpcTlsSettings): TlsPems {
  return {
    certificate: readPemNow(certFile, 'GRPC_SERVER_TLS_CERT'),
    key: readPemNow(keyFile, 'GRPC_SERVER_TLS_KEY'),
    clientCa: readPemNow(clientCaFile, 'GRPC_CLIENT_TLS_CACERT'),
  };
}

function isSamePems(a: TlsPems, b: TlsPems): boolean {
  const isSameCa =
    a.clientCa === undefined || b.clientCa === undefined
      ? a.clientCa === b.clientCa
      : a.clientCa.equals(b.clientCa);
  return isSameCa && a.certificate.equals(b.certificate) && a.key.equals(b.key);
}

interface RefusalLogDeps {
  readonly statistics: Pick<Statistics, 'count'>;
  readonly logger: Logger;
  readonly monotonicMs: () => number;
}

/** A client with a wrong certificate retries endlessly: one warning covers many. */
const WARN_EVERY_MS = 10_000;

/** Counts every client that TLS refused, and warns about them from time to time. */
export function createRefusalLog({ statistics, logger, monotonicMs }: RefusalLogDeps) {
  let silentUntilMs = -Infinity;
  let unreported = 0;
  return ({ peer, reason }: ClientRefusal): void => {
    statistics.count('ratelimit_server.tls_handshake_error', 1);
    const now = monotonicMs();
    if (now < silentUntilMs) {
      unreported += 1;
      logger.debug('refused a gRPC client', { peer, reason });
      return;
    }
    logger.warn('refused a gRPC client', { peer, reason, othersBefore: unreported });
    silentUntilMs = now + WARN_EVERY_MS;
    unreported = 0;
  };
}
