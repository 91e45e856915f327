import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A rule file of one rule, told from others by its limit. */
export function ruleText(limit: number, domain = 'shop'): string {
  return `domain: ${domain}
descriptors:
  - key: user
    rate_limit: { unit: hour, requests_per_unit: ${String(limit)} }
`;
}

/** A directory of its own for one test; paths are relative to it. */
export interface TemporaryDirectory {
  readonly path: string;
  at(relative: string): string;
  /** Writes a file; makes the directories that it needs. */
  write(relative: string, text: string): void;
  /** Points a link elsewhere in one step, as a deployment does. */
  swapLink(relative: string, target: string): void;
  remove(): void;
}

export function createTemporaryDirectory(): TemporaryDirectory {
  const path = mkdtempSync(join(tmpdir(), 'weir-rules-'));
  const at = (relative: string) => join(path, relative);
  return {
    path,
    at,
    write(relative, text) {
      mkdirSync(dirname(at(relative)), { recursive: true });
      writeFileSync(at(relative), text);
    },
    swapLink(relative, target) {
      symlinkSync(target, `${at(relative)}_tmp`);
      renameSync(`${at(relative)}_tmp`, at(relative));
    },
    remove() {
      rmSync(path, { recursive: true, force: true });
    },
  };
}
