import type { HeapProfiler, Profiler } from 'node:inspector';
import type { Steps } from '../../../core/steps';
import { printJson } from '../work/print-json';
import { joinParts } from './join-parts';

type HeapNode = HeapProfiler.SamplingHeapProfileNode;
type RawProfile = Profiler.Profile | HeapProfiler.SamplingHeapProfile;

/** Characters encoded at once. */
const PIECE_LENGTH = 65_536;

/** A profile of the inspector as JSON. */
export function* printV8(profile: RawProfile): Steps<Uint8Array> {
  const pieces: Buffer[] = [];
  let text = '';
  for (const piece of 'head' in profile ? printHeap(profile) : printJson(profile, 2)) {
    text += piece;
    if (text.length >= PIECE_LENGTH) {
      pieces.push(Buffer.from(text));
      text = '';
    }
    yield;
  }
  return yield* joinParts([...pieces, Buffer.from(text)]);
}

function* printHeap({ head, ...rest }: HeapProfiler.SamplingHeapProfile): Generator<string, void> {
  yield '{"head":';
  yield* printTree(head);
  for (const [name, value] of Object.entries(rest)) {
    yield `,${JSON.stringify(name)}:`;
    yield* printJson(value, 1);
  }
  yield '}';
}

/** Recurses as deep as the stacks of the service are. */
function* printTree(root: HeapNode): Generator<string, void> {
  const open: (HeapNode | string)[] = [root];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') {
      yield next;
      continue;
    }
    const { children, ...own } = next;
    yield `${JSON.stringify(own).slice(0, -1)},"children":[`;
    open.push(']}');
    for (let at = children.length - 1; at >= 0; at -= 1) {
      open.push(children[at] ?? '');
      if (at > 0) open.push(',');
    }
  }
}
