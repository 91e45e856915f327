import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describeCode, errorCode } from './errors';
import type { Parser } from './env-table/table';

export interface Credentials {
  /** Undefined: the store's default user. */
  readonly username: string | undefined;
  readonly password: string;
}

/** `<PASSWORD>` or `<USER>:<PASSWORD>`; the first colon divides, so a password may contain more of them. */
export const credentials: Parser<Credentials> = {
  expected: '<PASSWORD> or <USER>:<PASSWORD>, without line breaks',
  parse: (text) => {
    const at = text.indexOf(':');
    const username = at > 0 ? text.slice(0, at) : undefined;
    const password = text.slice(at + 1);
    return password === '' || /[\0\r\n]/.test(text) ? undefined : { username, password };
  },
};

/** A file with credentials in the form of their setting; a line break at its end is ignored. */
export interface CredentialsFile {
  readonly file: string;
}

/** Credentials, or their file. A file is read again for each new connection, so that they can change. */
export type CredentialsSource = Credentials | CredentialsFile;

/** Rejects with an error that names the file and never its content. */
export async function readCredentials(
  source: CredentialsSource | undefined,
): Promise<Credentials | undefined> {
  if (source === undefined || !('file' in source)) return source;
  const text = await readFile(source.file, 'utf8').catch((error: unknown) => {
    throw toReadError(source, error);
  });
  return parse(source, text);
}

/** Reads them synchronously. Throws. */
export function readCredentialsNow(source: CredentialsSource): Credentials {
  if (!('file' in source)) return source;
  let text: string;
  try {
    text = readFileSync(source.file, 'utf8');
  } catch (error) {
    throw toReadError(source, error);
  }
  return parse(source, text);
}

function toReadError({ file }: CredentialsFile, error: unknown): Error {
  const reason = describeCode(errorCode(error));
  return new Error(`cannot read the credentials in ${file}: ${reason}`, { cause: error });
}

function parse({ file }: CredentialsFile, text: string): Credentials {
  const parsed = credentials.parse(text.replace(/\r?\n$/, ''));
  if (parsed === undefined) throw new Error(`${file}: expected ${credentials.expected}`);
  return parsed;
}
