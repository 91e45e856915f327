import type { Scenario } from './scenario';

/** A caller's higher limit counts at once here; the reference goes on refusing in one step of this vector. */
const DIFFERS = ['LOCAL_CACHE_SIZE_IN_BYTES', 'STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT'];

/** The vectors that are not replayed, by name; the test fails when one is missing here or too many. */
export const WAITING: readonly string[] = ['random.json: seed 1000'];

/** Why a vector is not replayed. */
export function waitsFor({ settings }: Scenario): string | undefined {
  return DIFFERS.every((name) => Object.hasOwn(settings, name))
    ? 'the local cache is keyed by counter and limit'
    : undefined;
}
