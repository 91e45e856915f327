import { type HostAndPort } from '../address';
import { type ReadCounts } from '../pipeline';
import { type Member } from './members';
import { toRedirect } from './redirect';

/** Reads counters of a node; keys of slots that are elsewhere are read there. Rejects with a StoreError. */
export async function readFollowing(
  memberAt: (place: HostAndPort) => Member,
  member: Member,
  keys: readonly string[],
  deadlineMs: number,
): Promise<ReadonlyMap<string, number>> {
  const { counts, failures } = await member.read(keys, { deadlineMs });
  if (failures.size === 0) return counts;
  const found = new Map(counts);
  await Promise.all(
    [...failures].map(async ([key, error]) => {
      const redirect = toRedirect(error, member.host);
      if (redirect === undefined || redirect.kind === 'plainly') return;
      const how = { deadlineMs, asking: redirect.kind === 'ask' };
      const there: ReadCounts = await memberAt(redirect.to).read([key], how);
      for (const [name, count] of there.counts) found.set(name, count);
    }),
  );
  return found;
}
