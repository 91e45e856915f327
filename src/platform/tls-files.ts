import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ConnectionOptions } from 'node:tls';
import { toReason } from './errors';

/** Paths of PEM files of a TLS client. Certificate and key come together or not at all. */
export interface TlsFiles {
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  /** Undefined: Node's own authorities. */
  readonly caFile: string | undefined;
}

/** The files of a client that may accept a certificate without the server's name. */
export interface ClientTlsFiles extends TlsFiles {
  readonly skipHostnameVerification: boolean;
}

/** Options of `tls.connect` with the content of the files. Rejects with an error that names the file. */
export async function readTlsOptions(tls: ClientTlsFiles): Promise<ConnectionOptions> {
  const files = [tls.caFile, tls.certFile, tls.keyFile];
  const [ca, cert, key] = await Promise.all(files.map((file) => readPem(file)));
  return toOptions(tls, { ca, cert, key });
}

/** Reads them synchronously. Throws. */
export function readTlsOptionsNow(tls: ClientTlsFiles): ConnectionOptions {
  const [ca, cert, key] = [tls.caFile, tls.certFile, tls.keyFile].map((file) => readPemNow(file));
  return toOptions(tls, { ca, cert, key });
}

function toOptions(
  { skipHostnameVerification }: ClientTlsFiles,
  pems: Readonly<Record<'ca' | 'cert' | 'key', Buffer | undefined>>,
): ConnectionOptions {
  const given = Object.entries(pems).filter(([, pem]) => pem !== undefined);
  return {
    ...Object.fromEntries(given),
    ...(skipHostnameVerification ? { checkServerIdentity: () => undefined } : {}),
  };
}

/** Undefined where the file may be. */
type Pem<File> = Buffer | (undefined extends File ? undefined : never);

/** The content of a file; undefined where there is none. Rejects with an error that names the setting or flag, else the file. */
export async function readPem<F extends string | undefined>(
  file: F,
  setting?: string,
): Promise<Pem<F>> {
  if (file === undefined) return undefined as Pem<F>;
  try {
    return await readFile(file);
  } catch (error) {
    throw cannotRead(file, setting, error);
  }
}

/** Reads it synchronously. Throws. */
export function readPemNow<F extends string | undefined>(file: F, setting?: string): Pem<F> {
  if (file === undefined) return undefined as Pem<F>;
  try {
    return readFileSync(file);
  } catch (error) {
    throw cannotRead(file, setting, error);
  }
}

function cannotRead(file: string, setting: string | undefined, error: unknown): Error {
  const what =
    setting === undefined
      ? `the tls file ${file} cannot be read`
      : `${setting}: cannot read the file`;
  return new Error(`${what}: ${toReason(error)}`, { cause: error });
}
