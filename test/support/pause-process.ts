import type { ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { contentOf } from './secrets';

/** Far longer than a signal takes. */
const MAX_LOOKS = 1_000_000;

/** Stops a process and returns when each of its threads stands still: a signal alone lets them answer a moment longer. */
export function pauseProcess(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined || !child.kill('SIGSTOP')) return;
  for (let looks = 0; looks < MAX_LOOKS && !isStopped(pid); looks++);
}

function isStopped(pid: number): boolean {
  const tasks = `/proc/${String(pid)}/task`;
  return readdirSync(tasks).every((task) => {
    const stat = contentOf(`${tasks}/${task}/stat`);
    return stat === '' || stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
  });
}
