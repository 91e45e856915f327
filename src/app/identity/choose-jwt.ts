import type { JwtVerifier } from '../../identity/jwt/jwt-verifier';
import { monotonicMs } from '../../platform/clock';
import type { Logger } from '../../platform/logger/logger';
import type { JwtSettings } from '../../settings/identity';
import { lazy } from './lazy';

/** Leaves time for a 503 within a second, after the time-out of the limits. */
const LOAD_WITHIN_MS = 600;
const REFRESH_URL_MS = 300_000;
/** A file is cheap to read again. */
const REFRESH_FILE_MS = 5_000;

/** The verifier of JWT access tokens; undefined: they are not accepted. */
export function chooseJwtVerifier(
  settings: JwtSettings | undefined,
  logger: Logger,
): JwtVerifier | undefined {
  if (settings === undefined) return undefined;
  const { keys: source } = settings;
  const { createKeySet, loadKeysByUrl, loadKeysFromFile } = lazy.keySet();
  const { load, options } =
    source.kind === 'url'
      ? {
          load: loadKeysByUrl(source.url, LOAD_WITHIN_MS),
          options: { name: source.url, refreshMs: REFRESH_URL_MS },
        }
      : {
          load: loadKeysFromFile(source.file),
          options: { name: source.file, refreshMs: REFRESH_FILE_MS },
        };
  const keys = createKeySet({ load, monotonicMs, logger }, options);
  return lazy.jwtVerifier().createJwtVerifier({ keys, nowMs: Date.now }, settings);
}
