import type { Change, Changes } from '../../src/stats/push-output';

/** All changes, without the steps between them. */
export function readChanges(changes: Pick<Changes, 'read'>): readonly Change[] {
  return [...changes.read()].filter((change) => change !== undefined);
}
