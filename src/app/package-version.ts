import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the package that this file is part of, in the source tree and in the built one. */
export function packageFolder(): string {
  for (let folder = __dirname; ; folder = dirname(folder))
    if (existsSync(join(folder, 'package.json')) || folder === dirname(folder)) return folder;
}

/** The version of that package. */
export function packageVersion(): string {
  const file = join(packageFolder(), 'package.json');
  if (!existsSync(file)) return 'unknown';
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version?: string };
  return version ?? 'unknown';
}
