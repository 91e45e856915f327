import type { TableReading, Setting, Table } from '../platform/env-table/table';
import type { TlsFiles } from '../platform/tls-files';

type TlsTable = Readonly<Record<keyof TlsFiles, Setting<string | undefined>>>;

/** The files of a client's TLS; half a pair of certificate and key is a problem. */
export function toTlsFiles(reading: TableReading<TlsTable>): TlsFiles {
  const { certFile, keyFile, caFile } = reading.values;
  for (const [has, lacks] of [
    ['certFile', 'keyFile'],
    ['keyFile', 'certFile'],
  ] as const) {
    if (reading.isSet(has) && !reading.isSet(lacks))
      reading.refuse(has, `${reading.describe(lacks)} to be set too`);
  }
  return { certFile, keyFile, caFile };
}

/** A file that connections to a server need. */
export interface ClientFile {
  /** The setting with its value, as the operator wrote it. */
  readonly setting: string;
  readonly file: string;
  readonly holds: 'pem' | 'credentials';
}

type FileKeys<T extends Table> = {
  readonly [K in keyof T]: T[K] extends Setting<string | undefined> ? K : never;
}[keyof T];

/** The files of these settings that are set. */
export function clientFiles<T extends Table>(
  reading: TableReading<T>,
  keys: readonly FileKeys<T>[],
  holds: ClientFile['holds'] = 'pem',
): readonly ClientFile[] {
  return keys.flatMap((key) => {
    const file = reading.values[key] as string | undefined;
    return file === undefined ? [] : [{ setting: reading.describe(key), file, holds }];
  });
}

/** The keys of the files of a client's TLS, in every table that has them. */
export const TLS_FILES = ['caFile', 'certFile', 'keyFile'] as const;

export const CREDENTIALS_FILES = ['authFile', 'sentinelAuthFile'] as const;
