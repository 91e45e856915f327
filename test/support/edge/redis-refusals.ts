import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from './eventually';
import type { RedisServer } from './redis-server';

/** A state of a real server in which it refuses to write. */
export interface RedisRefusal {
  /** The first word of its answer, or what tells it from others. */
  readonly says: RegExp;
  readonly mount: (server: RedisServer) => Promise<unknown>;
  readonly clear: (server: RedisServer) => Promise<unknown>;
}

const config = ({ client }: RedisServer, name: string, value: string) =>
  client.config('SET', name, value);

/** A snapshot cannot take the place of a folder. */
async function failSnapshot(server: RedisServer): Promise<void> {
  const [, directory = ''] = await server.client.config('GET', 'dir');
  await mkdir(join(directory, 'dump.rdb'), { recursive: true });
  await config(server, 'save', '3600 1000000');
  await config(server, 'stop-writes-on-bgsave-error', 'yes');
  await eventually(async () => {
    // It saves for a replica that joins, too.
    await server.client.bgsave().catch(() => undefined);
    expect(await server.client.info('persistence')).toMatch(/rdb_last_bgsave_status:err/);
  });
}

export const OOM: RedisRefusal = {
  says: /^OOM /,
  mount: (server) => config(server, 'maxmemory', '100kb'),
  clear: (server) => config(server, 'maxmemory', '0'),
};

export const NOREPLICAS: RedisRefusal = {
  says: /^NOREPLICAS /,
  mount: (server) => config(server, 'min-replicas-to-write', '3'),
  clear: (server) => config(server, 'min-replicas-to-write', '0'),
};

export const MISCONF: RedisRefusal = {
  says: /^MISCONF /,
  mount: failSnapshot,
  clear: (server) => config(server, 'stop-writes-on-bgsave-error', 'no'),
};

/** The user may not send some commands: a server says it in other words inside a script. */
export function noPermissionFor(...commands: readonly string[]): RedisRefusal {
  const rules = (sign: string) => commands.map((command) => `${sign}${command}`);
  return {
    says: /NOPERM|ACL failure|can't run this command/,
    mount: ({ client }) => client.call('ACL', 'SETUSER', 'default', ...rules('-')),
    clear: ({ client }) => client.call('ACL', 'SETUSER', 'default', ...rules('+')),
  };
}
