import { randomFillSync } from 'node:crypto';
import { createChildIds } from '../../../src/tracing/create-tracing';
import { hex } from '../../support/library-spans';

describe('createChildIds', () => {
  it('gives the same span id to no two spans, and keeps trace and state of the parent', () => {
    const childOf = createChildIds((numbers) => {
      randomFillSync(numbers);
    });
    const parent = { ...childOf(undefined), traceState: 'a=b', isRemote: true };
    const children = Array.from({ length: 5_000 }, () => childOf(parent));
    expect(new Set(children.map(({ span0, span1 }) => hex(span0, span1))).size).toBe(5_000);
    const { trace0, trace1, trace2, trace3, traceState } = parent;
    const same = { trace0, trace1, trace2, trace3, traceState, isRemote: false };
    for (const child of children) expect(child).toMatchObject(same);
    const roots = Array.from({ length: 1_000 }, () => childOf(undefined));
    const ids = roots.map((root) => hex(root.trace0, root.trace1, root.trace2, root.trace3));
    expect(new Set(ids).size).toBe(1_000);
  });

  it('gives no id that is all zeros', () => {
    const childOf = createChildIds((numbers) => numbers.fill(0));
    const { trace0, trace1, trace2, trace3, span0, span1 } = childOf(undefined);
    expect(hex(trace0, trace1, trace2, trace3)).not.toBe('0'.repeat(32));
    expect(hex(span0, span1)).not.toBe('0'.repeat(16));
  });
});
