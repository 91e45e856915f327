import { posix } from 'node:path';
import type { Facts } from './facts';
import type { Mount } from './workload';

function mountsOf({ workload, directory }: Facts): readonly Mount[] {
  return (workload.mounts ?? []).filter(({ path }) => isWithin(directory, path));
}

/** Whether a directory is, or is inside, the mount at a path. */
function isWithin(directory: string, path: string): boolean {
  const at = posix.join(path, '/');
  return posix.join(directory, '/').startsWith(at);
}

/** A ConfigMap whose hidden directory the reference reads too. */
export function findTwice(facts: Facts): string | undefined {
  const { readsFiles, directory, isTrue } = facts;
  if (!readsFiles || isTrue('RUNTIME_IGNOREDOTFILES')) return undefined;
  const isTwice = mountsOf(facts).some(
    ({ path, isConfigMap, isSubPath }) =>
      isConfigMap && !isSubPath && posix.join(path, '/') === posix.join(directory, '/'),
  );
  return isTwice
    ? `a ConfigMap is mounted at ${directory}: the reference reads every file twice without RUNTIME_IGNOREDOTFILES=true, and refuses them; here they are read once`
    : undefined;
}

/** Rules without a mount. */
export function findNoMount(facts: Facts): string | undefined {
  const { readsFiles, workload, directory, above } = facts;
  if (!readsFiles || workload.mounts === undefined) return undefined;
  const isThere = workload.mounts.some(
    ({ path }) => isWithin(above, path) || isWithin(path, above),
  );
  return isThere
    ? undefined
    : `nothing is mounted at ${directory} or around it: unless the image has rules there, the service is not ready`;
}

/** Keys of a ConfigMap that this service does not read. */
export function findLeftOut(facts: Facts): string | undefined {
  if (!facts.readsFiles) return undefined;
  const keys = mountsOf(facts).flatMap((mount) => mount.keys ?? []);
  const left = keys.filter(
    (key) => /~$|\.md$/.test(key) || (key.startsWith('.') && !/\.ya?ml$/.test(key)),
  );
  return left.length === 0 ? undefined : `not read here: ${left.slice(0, 10).join(', ')}`;
}
