import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { contentOf } from './secrets';

/** A service that was started as a process. */
interface Started {
  readonly child: { readonly pid?: number | undefined };
}

/** The processes that a service has started: its workers, oldest first. */
export function workersOf({ child }: Started): readonly number[] {
  const pid = String(child.pid);
  return contentOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

const ESTABLISHED = '01';

/** How many connections to a local port a process holds. */
export function connectionsTo(port: number, pid: number): number {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes = new Set(
    contentOf(`/proc/${String(pid)}/net/tcp`)
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local = '', , state]) => local.endsWith(`:${hexPort}`) && state === ESTABLISHED)
      .map((fields) => fields[9]),
  );
  const folder = `/proc/${String(pid)}/fd`;
  return readdirSync(folder).filter((file) => inodes.has(socketInode(`${folder}/${file}`))).length;
}

function socketInode(link: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(link))?.[1];
  } catch {
    return undefined;
  }
}

/** A process that has ended stays in the table until process 1 fetches it, which is not ours to wait for. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${String(pid)}/status`, 'utf8'));
  } catch {
    return false;
  }
}
