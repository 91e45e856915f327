import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The version of the package that this file is part of, in the source tree and in the built one. */
export function packageVersion(): string {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    if (existsSync(file)) {
      const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version?: string };
      return version ?? 'unknown';
    }
    if (folder === dirname(folder)) return 'unknown';
  }
}
