import type { CounterBatch, CounterReply, Increment } from '../../src/core/ports';

/** What counters do, in the fewest words: the contract suite compares every store with it. */
export function createModel(): (batch: CounterBatch) => CounterReply {
  const counts = new Map<string, number>();
  const countOf = ({ key }: Increment): number => counts.get(key) ?? 0;
  const add = (increment: Increment): number => {
    const count = Math.max(0, countOf(increment) + Number(increment.hits));
    counts.set(increment.key, count);
    return count;
  };
  return ({ increments, groupEnds }) => {
    if (groupEnds === undefined) {
      return { after: increments.map(add), held: undefined, failures: undefined };
    }
    const held: boolean[] = [];
    const after = groupEnds.flatMap((end, run) => {
      const members = increments.slice(groupEnds[run - 1] ?? 0, end);
      const seen = members.map(countOf);
      const overs = members.map(({ hits, limit }, at) => Number(seen[at]) + Number(hits) > limit);
      return members.map((each, at) => {
        const isHeld = overs.includes(true) && overs[at] === false;
        held.push(isHeld);
        return isHeld ? Number(seen[at]) : add(each);
      });
    });
    return { after, held: held.includes(true) ? held : undefined, failures: undefined };
  };
}
