import type { Reading } from '../platform/env-table/read-table';
import type { Setting, Table } from '../platform/env-table/setting';

/** A file that connections to a server need. */
export interface ClientFile {
  /** As the operator wrote it, with its value. */
  readonly setting: string;
  readonly file: string;
  readonly holds: 'pem' | 'credentials';
}

type FileKeys<T extends Table> = {
  readonly [K in keyof T]: T[K] extends Setting<string | undefined> ? K : never;
}[keyof T];

/** Those of these settings that are set. */
export function clientFiles<T extends Table>(
  reading: Reading<T>,
  keys: readonly FileKeys<T>[],
  holds: ClientFile['holds'] = 'pem',
): readonly ClientFile[] {
  return keys.flatMap((key) => {
    const file = reading.values[key] as string | undefined;
    return file === undefined ? [] : [{ setting: reading.shown(key), file, holds }];
  });
}

/** The keys of the files of a client's TLS, in every table that has them. */
export const TLS_FILES = ['caFile', 'certFile', 'keyFile'] as const;

export const CREDENTIALS_FILES = ['authFile', 'sentinelAuthFile'] as const;
