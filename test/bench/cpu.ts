import { readFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second for every program (USER_HZ). */
const MICROS_PER_TICK = 10_000;

/** CPU µs that a process has used since it started, user and system. */
export function cpuMicros(pid: number): number {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MICROS_PER_TICK;
}

/** Resident memory of a process in MB. */
export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}
