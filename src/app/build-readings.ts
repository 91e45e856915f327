import { createHash } from 'node:crypto';
import type { Snapshot } from '../../streams';
import { dumpRules } from '../core/rules/dump';
import type { Rules } from '../core/rules/rules';
import type { Reading } from '../stats/prometheus/families';
import { packageVersion } from './package-version';

/** Which build runs, with which rules: two instances that agree show the same figures. */
export function createBuildReadings(
  rules: Snapshot<Rules | undefined> | undefined,
): () => readonly Reading[] {
  const build: Reading = {
    name: 'weir_build_info',
    type: 'gauge',
    help: 'the build that runs; always 1',
    labels: { version: packageVersion(), node: process.version },
    value: 1,
  };
  let hashed: Rules | undefined;
  let hash = 0;

  return () => {
    const current = rules?.current;
    if (current === undefined) return [build];
    if (current !== hashed) {
      hash = hashOf(current);
      hashed = current;
    }
    const help = 'first 48 bits of the SHA-256 of the limits in force, as /rlconfig lists them';
    return [build, { name: 'weir_config_hash', type: 'gauge', help, value: hash }];
  };
}

function hashOf(rules: Rules): number {
  const sha = createHash('sha256');
  for (const line of [...dumpRules(rules)].sort()) sha.update(`${line}\n`);
  return sha.digest().readUIntBE(0, 6);
}
