import { createHash } from 'node:crypto';
import type { RuleFile } from './load-result';

/** Bytes hashed per slice: a fraction of a millisecond. */
const SLICE = 262_144;

/** A digest of rules, computed in slices: `sha256:` and 64 hexadecimal digits. */
export type DigestRules = (files: readonly RuleFile[]) => Generator<void, string>;

/** Covers only contents and relative names, so that instances with the same files agree. */
export function* digestFiles(files: readonly RuleFile[]): Generator<void, string> {
  const sha = createHash('sha256');
  for (const { file, bytes } of files.toSorted((a, b) => (a.file < b.file ? -1 : 1))) {
    sha.update(`${String(Buffer.byteLength(file))}:${file}:${String(bytes.length)}:`);
    for (let at = 0; at < bytes.length; at += SLICE) {
      sha.update(bytes.subarray(at, at + SLICE));
      yield;
    }
  }
  return `sha256:${sha.digest('hex')}`;
}
