import { readdirSync } from 'node:fs';
import { contentOf } from './secrets';

/** Far longer than a signal takes. */
const MAX_LOOKS = 1_000_000;

/** Stops a process and returns when each of its threads stands still: a signal alone lets them answer a moment longer. */
export function pauseProcess(pid: number | undefined): void {
  if (pid === undefined) return;
  process.kill(pid, 'SIGSTOP');
  for (let looks = 0; looks < MAX_LOOKS && !isStopped(pid); looks++);
}

function isStopped(pid: number): boolean {
  const tasks = `/proc/${String(pid)}/task`;
  return readdirSync(tasks).every((task) => {
    const stat = contentOf(`${tasks}/${task}/stat`);
    return stat === '' || stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
  });
}
