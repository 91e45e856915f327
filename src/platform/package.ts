import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder, beside or above the code, in the source tree or the built one, that contains this file. Throws. */
export function folderWith(file: string): string {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    if (existsSync(join(folder, file))) return folder;
    if (folder === dirname(folder)) throw new Error(`no ${file} beside or above ${__dirname}`);
  }
}

/** The version of the package that contains this file, in the source tree or the built one. */
export function packageVersion(): string {
  const file = join(folderWith('package.json'), 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version?: string };
  return version ?? 'unknown';
}
