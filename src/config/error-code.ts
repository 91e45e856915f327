/** The system's code of an error (`ENOENT`); `unknown` when it has none. */
export function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return 'unknown';
  return typeof error.code === 'string' ? error.code : 'unknown';
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  ELOOP: 'too many symbolic links',
  EMFILE: 'this process has too many files open',
  ENFILE: 'this machine has too many files open',
  ENOENT: 'it does not exist',
  ENOTDIR: 'it is not a directory',
  EPERM: 'permission denied',
};

/** What a code means, for a message: `permission denied (EACCES)`. */
export function describeCode(code: string): string {
  const reason = REASONS[code];
  return reason === undefined ? code : `${reason} (${code})`;
}

/** What an error, or whatever else was thrown, says. */
export function messageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error);
  return String(error.message);
}
