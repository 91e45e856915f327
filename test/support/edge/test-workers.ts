import { startRedisServer } from './redis-server';

type Env = Readonly<Record<string, string>>;

/** How many workers services of this run have: `npm run test:workers` sets it; undefined: one process each. */
const TEST_WORKERS = process.env['WEIR_TEST_WORKERS'];

/** What only a service of several workers says. */
export const withWorkers = (text: string): string => (TEST_WORKERS === undefined ? '' : text);

/** Processes of a service: those that decide, and those that have a connection to its store, the owner of workers too. */
export const PROCESSES =
  TEST_WORKERS === undefined
    ? { deciding: 1, atStore: 1 }
    : { deciding: Number(TEST_WORKERS), atStore: Number(TEST_WORKERS) + 1 };

/**
 * The settings with which a service that asks for `env` has workers, and what ends with it. One that names no store gets a
 * Redis of its own: counters in memory are of one process.
 */
export async function settingsForWorkers(
  env: Env,
): Promise<{ readonly settings: Env; stop(): Promise<void> }> {
  const none = { settings: {}, stop: () => Promise.resolve() };
  if (TEST_WORKERS === undefined || 'WORKERS' in env || env['BACKEND_TYPE'] === 'memory')
    return none;
  const settings = { WORKERS: TEST_WORKERS };
  if (['KVSTORE_URL', 'REDIS_URL', 'BACKEND_TYPE'].some((name) => name in env))
    return { ...none, settings };
  const { port, stop } = await startRedisServer();
  return { settings: { ...settings, KVSTORE_URL: `127.0.0.1:${String(port)}` }, stop };
}
