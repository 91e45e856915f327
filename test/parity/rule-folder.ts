import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scenario } from './scenario';

/** The rule files of a scenario below a RUNTIME_ROOT of their own. */
export function writeRules({ rules }: Scenario) {
  const root = mkdtempSync(join(tmpdir(), 'weir-parity-'));
  const directory = join(root, 'config');
  mkdirSync(directory);
  for (const [file, text] of Object.entries(rules)) writeFileSync(join(directory, file), text);
  return {
    root,
    directory,
    remove: () => {
      rmSync(root, { recursive: true });
    },
  };
}
