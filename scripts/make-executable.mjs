// tsc writes plain files; the ones named in package.json's bin are commands.
import { chmodSync, existsSync, readFileSync } from 'node:fs';

const { bin } = JSON.parse(readFileSync('package.json', 'utf8'));
for (const file of Object.values(bin)) if (existsSync(file)) chmodSync(file, 0o755);
