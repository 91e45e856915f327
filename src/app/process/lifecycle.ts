/**
 * The life of a service: until its ports are open, while it serves, after a signal to stop (calls are still answered), and once
 * everything has ended. Health, the drain and the exit code follow from it.
 */
export type Lifecycle = 'starting' | 'serving' | 'draining' | 'stopped';

/** Whether a signal to stop has come. */
export function isStopping(state: Lifecycle): boolean {
  return state === 'draining' || state === 'stopped';
}

/** 0 only after a completed stop. */
export function exitCodeOf(state: Lifecycle): number {
  return state === 'stopped' ? 0 : 1;
}
