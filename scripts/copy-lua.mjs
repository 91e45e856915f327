// tsc leaves what is no TypeScript behind: the scripts for Redis go to their places among what it wrote.
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const [target = 'dist'] = process.argv.slice(2);
for (const name of readdirSync('src', { recursive: true }))
  if (name.endsWith('.lua')) {
    const file = join(target, 'src', name);
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(join('src', name), file);
  }
