import { defer, map, type Observable } from 'rxjs';
import { createStopSignal, renewWhenGood } from '../../../streams';
import type { Statistics } from '../../core/ports';
import type { Logger } from '../../platform/logger';
import type { GrpcTlsSettings } from '../../settings/servers';
import type { TlsPems } from '../../transport/grpc/options';
import { toReason } from '../../platform/errors';
import { checkPems } from './check-pems';
import { isSamePems, readPems, readPemsNow } from './read-pems';

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
