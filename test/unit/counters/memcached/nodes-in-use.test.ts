import { addressText } from '../../../../src/platform/listen-address';
import type { NodePart } from '../../../../src/counters/memcached/node-part';
import {
  createNodesInUse,
  type MemcachedNode,
} from '../../../../src/counters/memcached/nodes-in-use';
import { type NodeAddress } from '../../../../src/counters/memcached/options';

type State = 'new' | 'connected' | 'failed';

/** Nodes of one connection each, of which a test says what becomes of them. */
function start({ waits = true } = {}) {
  const states = new Map<string, State>();
  const closed: string[] = [];
  const openNode = (address: NodeAddress): MemcachedNode => {
    const text = addressText(address);
    states.set(text, 'new');
    const part: Pick<NodePart, 'wasConnected' | 'wasTried'> = {
      wasConnected: () => states.get(text) === 'connected',
      wasTried: () => states.get(text) !== 'new',
    };
    return { text, parts: [part as NodePart] };
  };
  const nodes = createNodesInUse(
    { openNode, closeNode: ({ text }) => closed.push(text) },
    { waits },
  );
  return {
    closed,
    list(...hosts: readonly string[]) {
      nodes.list(hosts.map((host) => ({ host, port: 1 })));
    },
    becomes(host: string, state: State) {
      states.set(`${host}:1`, state);
      nodes.presenceChanged();
    },
    inUse: () => nodes.current.map(({ text }) => text.replace(':1', '')).join(' '),
    open: () => [...nodes.open()].map(({ text }) => text.replace(':1', '')).join(' '),
  };
}

it('are those of a fixed list at once', () => {
  const { list, inUse } = start({ waits: false });
  list('b', 'a');
  expect(inUse()).toBe('b a');
});

it('come into use together, when the last of a record was connected', () => {
  const { list, inUse, becomes } = start();
  list('a', 'b');
  expect(inUse()).toBe('');
  becomes('b', 'connected');
  expect(inUse()).toBe('');
  becomes('a', 'connected');
  expect(inUse()).toBe('a b');
});

it('are those that could be connected, in the order of the record; one that comes later joins', () => {
  const { list, inUse, becomes } = start();
  list('a', 'b', 'c');
  becomes('a', 'connected');
  becomes('b', 'failed');
  becomes('c', 'connected');
  expect(inUse()).toBe('a c');
  becomes('b', 'connected');
  expect(inUse()).toBe('a b c');
});

it('are the nodes before while none of the record could be connected, which are then closed', () => {
  const { list, inUse, becomes, closed } = start();
  list('a');
  becomes('a', 'connected');
  list('b');
  becomes('b', 'failed');
  expect([inUse(), closed]).toEqual(['a', []]);
  becomes('b', 'connected');
  expect([inUse(), closed]).toEqual(['b', ['a:1']]);
});

it('are all of the first record when none could be connected: each says why', () => {
  const { list, inUse, becomes } = start();
  list('a', 'b');
  becomes('a', 'failed');
  becomes('b', 'failed');
  expect(inUse()).toBe('a b');
});

it('are left when the record drops them, also before they were connected', () => {
  const { list, inUse, becomes, closed, open } = start();
  list('a');
  becomes('a', 'connected');
  list('a', 'b');
  list('a');
  expect([inUse(), open(), closed]).toEqual(['a', 'a', ['b:1']]);
});
