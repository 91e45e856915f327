import { createHash } from 'node:crypto';
import type { RuleFile } from '../load-result';
import { readResources } from './read-response';

/** Of resources alone, in any order: versions and nonces of their messages differ from client to client. */
export function* digestResources(files: readonly RuleFile[]): Generator<void, string> {
  const digests: string[] = [];
  for (const { bytes } of files) {
    for (const { value } of readResources(bytes)) {
      digests.push(createHash('sha256').update(value).digest('hex'));
      yield;
    }
  }
  const sha = createHash('sha256');
  for (const digest of digests.sort()) sha.update(digest);
  return `sha256:${sha.digest('hex')}`;
}
