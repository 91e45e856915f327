import { readdirSync, readFileSync } from 'node:fs';

/**
 * CPU µs that the threads of a process have used since they started, user and system. From the scheduler's own account in
 * nanoseconds: `/proc/<pid>/stat` counts in hundredths of a second, 3 % of one round of a comparison. A thread that has
 * ended takes its time along.
 */
export function cpuMicros(pid: number): number {
  const tasks = `/proc/${String(pid)}/task`;
  const nanos = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanos.reduce((sum, time) => sum + time, 0) / 1_000;
}

/** The processes that a process has started. */
export function childrenOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8');
  return children.split(' ').filter(Boolean).map(Number);
}

/** Resident memory of a process in MB. */
export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}
