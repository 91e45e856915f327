/**
 * Where the service stands: from the first line until the ports are open, while it decides, from a signal to stop on
 * (calls are still served), and once everything has ended.
 */
export type Lifecycle = 'starting' | 'serving' | 'draining' | 'stopped';

/** Whether a signal to stop has come. */
export function isStopping(state: Lifecycle): boolean {
  return state === 'draining' || state === 'stopped';
}
