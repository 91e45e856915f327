import { chooseCounters } from '../../src/app/store/store';
import { readSettings } from '../../src/settings/settings';
import { startReplay, type Replayer } from '../parity/replayer';
import type { Step } from '../parity/scenario';
import { startRedisClock } from './redis-clock';

/** One status of an answer; the reset in seconds. */
export interface Answered {
  readonly code: string;
  readonly remaining: number;
  readonly reset: number;
}

/** The whole service on its ports, whose clock, and that of its Redis, stand where the test puts them. */
export interface AlgorithmService extends Replayer {
  /** One request with this descriptor so many times; undefined: it was answered an error. */
  ask(
    key: string,
    value: string,
    hits?: number,
    times?: number,
  ): Promise<readonly Answered[] | undefined>;
}

export interface AlgorithmServiceOptions {
  readonly rules: string;
  /** Unix seconds. */
  readonly startSeconds: number;
  /** The port of a Redis to count in, and its clock where it is not its own; undefined: in memory. */
  readonly redis?:
    { readonly port: number; readonly readSeconds?: (() => number) | undefined } | undefined;
  readonly settings?: Readonly<Record<string, string>>;
  /** Of the store; stands still where none is given. */
  readonly monotonicMs?: () => number;
}

interface Status {
  readonly code: string;
  readonly limitRemaining?: number;
  readonly durationUntilReset?: string;
}

/** One request with this descriptor so many times. */
export function stepOf(key: string, value: string, hits: number, times: number): Step {
  const one = { hitsAddend: Math.abs(hits), isNegativeHits: hits < 0 };
  const descriptor = { entries: [{ key, value }], ...one };
  const descriptors = new Array<typeof descriptor>(times).fill(descriptor);
  const request = { domain: 'd', descriptors };
  return { at: 0, request, keys: {}, ttl: {} };
}

export async function startAlgorithmService(
  options: AlgorithmServiceOptions,
): Promise<AlgorithmService> {
  const { rules, startSeconds, redis } = options;
  const clock = redis?.readSeconds && (await startRedisClock(redis.port, redis.readSeconds));
  const port = clock?.port ?? redis?.port;
  const settings = {
    DISABLE_STATS: 'true',
    EXPIRATION_JITTER_MAX_SECONDS: '0',
    KVSTORE_TIMEOUT: '5s',
    ...(port === undefined
      ? { BACKEND_TYPE: 'memory' }
      : { BACKEND_TYPE: 'redis', REDIS_URL: `127.0.0.1:${String(port)}` }),
    ...options.settings,
  };
  const read = readSettings(settings);
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const replayer = await startReplay(
    {
      name: '',
      settings,
      rules: { 'rules.yaml': rules },
      steps: [{ at: startSeconds, keys: {}, ttl: {} }],
    },
    (_settings, deps) =>
      chooseCounters(read.settings, {
        ...deps,
        monotonicMs: options.monotonicMs ?? deps.monotonicMs,
      }),
  );
  return {
    ...replayer,
    async ask(key, value, hits = 1, times = 1) {
      const { response } = await replayer.perform(stepOf(key, value, hits, times));
      const statuses = (response as { statuses?: readonly Status[] } | undefined)?.statuses;
      return statuses?.map(({ code, limitRemaining = 0, durationUntilReset = '' }) => ({
        code,
        remaining: limitRemaining,
        reset: parseInt(durationUntilReset, 10),
      }));
    },
    async close() {
      await replayer.close();
      await clock?.close();
    },
  };
}
