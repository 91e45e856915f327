import { renameSync, writeFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { createMemcachedClient, type MemcachedClient } from './memcached-client';

/** A server of this worker of jest, which start-near-stores.cjs has started. Its time of day stands still until a test puts it elsewhere. */
interface NearStore {
  readonly port: number;
  /** Puts its clock: Unix seconds, with a fraction. */
  setClock(seconds: number): void;
}

export interface NearRedis extends NearStore {
  readonly database: number;
  readonly address: { readonly kind: 'tcp'; readonly host: string; readonly port: number };
  /** A client for looking into it. */
  readonly client: Redis;
}

export interface NearMemcached extends NearStore, MemcachedClient {
  readonly address: { readonly host: string; readonly port: number };
}

interface Started {
  readonly port: number;
  readonly clock: string;
}

const started = JSON.parse(process.env['WEIR_NEAR_STORES'] ?? '[]') as readonly {
  readonly redis: Started;
  readonly memcached: Started;
}[];
const mine = started[Number(process.env['JEST_WORKER_ID'] ?? 1) - 1];

/** A suite on the stores; left out where they could not be started, which a line at the start says. */
export const describeWithStores = mine === undefined ? describe.skip : describe;

/** This worker's Redis, emptied; `clock`: Unix seconds at which its clock stands. Call `client.quit()` at the end. */
export async function nearRedis(clock: number, database = 0): Promise<NearRedis> {
  const { port, setClock } = open(mine?.redis);
  setClock(clock);
  const client = new Redis({ host: '127.0.0.1', port, db: database, protocol: 2 });
  await client.flushall();
  return { port, database, setClock, client, address: { kind: 'tcp', host: '127.0.0.1', port } };
}

/** This worker's memcached, emptied. */
export async function nearMemcached(clock: number): Promise<NearMemcached> {
  const { port, setClock } = open(mine?.memcached);
  setClock(clock);
  const client = createMemcachedClient(port);
  await client.ask('flush_all');
  return { port, setClock, ...client, address: { host: '127.0.0.1', port } };
}

function open(store: Started | undefined): NearStore {
  if (store === undefined) throw new Error('the stores of this worker are not there');
  const { port, clock } = store;
  return {
    port,
    setClock(seconds) {
      const text = new Date(Math.round(seconds * 1_000))
        .toISOString()
        .replace('T', ' ')
        .replace('Z', '');
      // The server may read it at any moment: a file is replaced whole.
      writeFileSync(`${clock}.new`, text);
      renameSync(`${clock}.new`, clock);
    },
  };
}
