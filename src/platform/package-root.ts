import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder, beside or above the code, in the source tree or the built one, that contains this file. Throws. */
export function folderWith(file: string): string {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    if (existsSync(join(folder, file))) return folder;
    if (folder === dirname(folder)) throw new Error(`no ${file} beside or above ${__dirname}`);
  }
}
