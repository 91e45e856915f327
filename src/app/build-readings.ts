import { createHash } from 'node:crypto';
import type { Snapshot } from '../../streams';
import { dumpRules } from '../core/rules/dump';
import type { Rules } from '../core/rules/rules';
import type { HttpLimits } from '../platform/http-listener';
import type { Reading } from '../stats/prometheus/families';
import { packageVersion } from './package-version';

/** Which build runs, with which rules (two instances that agree show the same figures), and what its connections hold. */
export function createBuildReadings(
  rules: Snapshot<Rules | undefined> | undefined,
  { budget }: HttpLimits,
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
    const held: Reading = {
      name: 'ratelimit_connections_held_bytes',
      type: 'gauge',
      help: 'bytes that all connections hold: unread answers, unanswered requests (MAX_HELD_BYTES)',
      value: budget.heldBytes,
    };
    if (current === undefined) return [build, held];
    if (current !== hashed) {
      hash = hashOf(current);
      hashed = current;
    }
    const help = 'first 48 bits of the SHA-256 of the limits in force, as /rlconfig lists them';
    return [build, held, { name: 'weir_config_hash', type: 'gauge', help, value: hash }];
  };
}

function hashOf(rules: Rules): number {
  const sha = createHash('sha256');
  for (const line of [...dumpRules(rules)].sort()) sha.update(`${line}\n`);
  return sha.digest().readUIntBE(0, 6);
}
