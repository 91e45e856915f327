import type { RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { constants, createGzip } from 'node:zlib';
import type { Logger } from '../../platform/logger';
import type { Registry } from '../registry';
import { CONTENT_TYPES, exposition, type Format } from './exposition';
import { type FamiliesOptions, gatherFamilies, type ProcessMetric } from './families';

export interface PullMetricsDeps {
  readonly registry: Registry;
  /** Shown beside the statistics; read at each scrape. */
  readonly processMetrics: () => Promise<readonly ProcessMetric[]>;
  readonly logger: Pick<Logger, 'debug'>;
}

export interface PullMetricsOptions extends FamiliesOptions {
  readonly path: string;
}

/** Concurrent scrapes; each holds its metrics until the scraper has read them. */
const MAX_SCRAPES = 4;
/** Characters per turn of the event loop. */
const CHUNK = 32_768;

/** Counters that alerts read: `increase()` does not see the first event of a series that begins with it. */
const FROM_ZERO = [
  'ratelimit.service.config_load_success',
  'ratelimit.service.config_load_error',
  'ratelimit.service.certificate_load_error',
  'ratelimit.connections.ended_unread',
  'ratelimit_http.json.refused',
  'ratelimit_server.tls_handshake_error',
  'ratelimit_server.ShouldRateLimit.total_requests',
];

/** Answers scrapes (`USE_PULLMETRICS`). Decisions continue during a scrape. */
export function createPullMetrics(
  { registry, processMetrics, logger }: PullMetricsDeps,
  options: PullMetricsOptions,
): RequestListener {
  let scrapes = 0;
  for (const name of FROM_ZERO) registry.counter(name);

  async function* chunks(format: Format): AsyncGenerator<string, void> {
    await registry.refresh?.();
    const gathering = gatherFamilies(registry, await processMetrics(), options);
    let step = gathering.next();
    while (step.done !== true) {
      await turn();
      step = gathering.next();
    }
    let chunk = '';
    for (const lines of exposition(step.value, format)) {
      chunk += lines;
      if (chunk.length < CHUNK) continue;
      yield chunk;
      chunk = '';
      await turn();
    }
    yield chunk;
  }

  const scrape = async (format: Format, gzip: boolean, response: ServerResponse) => {
    const source = Readable.from(chunks(format), { objectMode: false, highWaterMark: CHUNK });
    scrapes += 1;
    try {
      if (gzip) await pipeline(source, createGzip({ level: constants.Z_BEST_SPEED }), response);
      else await pipeline(source, response);
    } catch (error) {
      logger.debug('a scrape ended early', { error });
    } finally {
      scrapes -= 1;
    }
  };

  return (request, response) => {
    const { method = '', url = '/', headers } = request;
    if (url.split('?', 1)[0] !== options.path) {
      refuse(response, 404, `no such page, metrics are at ${options.path}\n`);
    } else if (method !== 'GET' && method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      refuse(response, 405, `method ${method} is not allowed here, expected GET or HEAD\n`);
    } else if (scrapes >= MAX_SCRAPES) {
      refuse(
        response,
        503,
        `${String(MAX_SCRAPES)} scrapes are running already, try again later\n`,
      );
    } else {
      const format = acceptedFormat(headers.accept);
      const gzip = acceptsGzip(headers['accept-encoding']);
      response.writeHead(200, {
        'Content-Type': CONTENT_TYPES[format],
        Vary: 'Accept, Accept-Encoding',
        ...(gzip && { 'Content-Encoding': 'gzip' }),
      });
      if (method === 'HEAD') response.end();
      else void scrape(format, gzip, response);
    }
  };
}

function refuse(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(body);
}

const TYPES: readonly (readonly [RegExp, Format])[] = [
  [/^application\/openmetrics-text(?:;|$)/, 'openmetrics'],
  [/^(?:text\/plain|text\/\*|\*\/\*)(?:;|$)/, 'text'],
];
const VERSIONS: Readonly<Record<Format, RegExp>> = {
  openmetrics: /;version=(?:"?1\.0\.0"?|"?0\.0\.1"?)(?:;|$)/,
  text: /;version="?0\.0\.4"?(?:;|$)/,
};

/** The format that a scraper prefers (RFC 9110 §12.5.1); the text format when it accepts none of ours. */
export function acceptedFormat(accept: string | undefined): Format {
  let best: Format = 'text';
  let bestQuality = 0;
  for (const part of (accept ?? '').toLowerCase().split(',')) {
    const range = part.replace(/\s/g, '');
    const format = TYPES.find(([pattern]) => pattern.test(range))?.[1];
    if (format === undefined) continue;
    if (range.includes(';version=') && !VERSIONS[format].test(range)) continue;
    const quality = Number(/;q=([\d.]+)/.exec(range)?.[1] ?? 1);
    if (quality > bestQuality) [best, bestQuality] = [format, quality];
  }
  return best;
}

export function acceptsGzip(acceptEncoding: string | string[] | undefined): boolean {
  return String(acceptEncoding ?? '')
    .toLowerCase()
    .split(',')
    .some((part) => /^gzip(?:;q=(?!0(?:\.0*)?$).*)?$/.test(part.replace(/\s/g, '')));
}
