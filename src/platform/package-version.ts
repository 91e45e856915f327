import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderWith } from './package-root';

/** The version of the package that contains this file, in the source tree or the built one. */
export function packageVersion(): string {
  const file = join(folderWith('package.json'), 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version?: string };
  return version ?? 'unknown';
}
