import {
  createHpackDecoder,
  decodeBlock,
  INITIAL_TABLE_BYTES,
} from '../../src/wire/http2/hpack/decoder';
import { createHeaderReader } from '../../src/wire/http2/hpack/header-reader';
import { dynamicField } from '../../src/wire/http2/hpack/dynamic-table';
import { FieldKind, fieldKind } from '../../src/wire/http2/hpack/header-field';
import { Flag, FrameType } from '../../src/wire/http2/frames';
import { mutateOctets } from './mutate';
import type { Random } from './random';
import { createReferenceHpack, type ReferenceHpack } from './reference-hpack';
import { pickSession, type Corpus } from './sessions';
import { expectSame, type Target } from './target';

const LENGTH_BYTES = 2;
const LARGEST_LIST = 1_000_000;
/** One decoder keeps these regular fields only. */
const READ_NAMES: ReadonlySet<string> = new Set(['content-type', 'grpc-timeout', 'accept', 'x-a']);
type Decoder = ReturnType<typeof createHpackDecoder>;
type List = ReturnType<typeof decodeBlock>;

/** Header blocks of one connection, each behind its length: what a session sent, changed. */
export function createHpackTarget(corpus: Corpus): Target {
  // What one connection makes its server remember must not change what another one says.
  const shared = createHeaderReader(READ_NAMES);
  return {
    name: 'hpack',
    make: (random) => {
      const blocks = Array.from({ length: random.below(4) + 1 }, () =>
        blocksOf(pickSession(random, corpus)),
      ).flat();
      const changed = blocks.map((block) =>
        random.oneIn(4) ? mutateOctets(block, random) : block,
      );
      const repeated = changed.flatMap((block) =>
        new Array<Buffer>(times(random)).fill(resized(block, random)),
      );
      return Buffer.concat(repeated.flatMap((block) => [lengthOf(block), block]));
    },
    check(input) {
      const cached = createHpackDecoder(LARGEST_LIST, true);
      const uncached = createHpackDecoder(LARGEST_LIST, false);
      const selective = createHpackDecoder(LARGEST_LIST, true, shared);
      const reference = createReferenceHpack(INITIAL_TABLE_BYTES);
      for (const block of cutBlocks(input)) {
        const wanted = reference.decode(block);
        const selected = decodeBlock(selective, block, 0, block.length);
        for (const decoder of [cached, uncached]) {
          const list = decodeBlock(decoder, block, 0, block.length);
          const got = list?.names.map((name, index) => [name, list.values[index] ?? '']);
          expectSame(
            'header list',
            JSON.stringify(got ?? 'fault'),
            JSON.stringify(wanted ?? 'fault'),
          );
          if (wanted !== undefined) checkTable(decoder, reference);
          expectSame('selected fields', toText(selected), toText(select(list)));
          expectSame('table octets', String(selective.table.bytes), String(decoder.table.bytes));
        }
        block.fill(0xaa);
        if (wanted === undefined) return;
      }
    },
  };
}

/** What a reader of READ_NAMES gets of a list: the same judgement, fewer fields. */
function select(list: List): List {
  if (list === undefined) return undefined;
  const isRead = (name: string) => fieldKind(name) !== FieldKind.regular || READ_NAMES.has(name);
  const { names, values } = list;
  return {
    ...list,
    names: names.filter(isRead),
    values: values.filter((_, at) => isRead(names[at] ?? '')),
  };
}

/** All that its reader sees of a list. */
const toText = (list: List) => JSON.stringify(list ? { ...list, fields: undefined } : 'fault');

/** Small tables fill up to their last octet now and then. */
const resized = (block: Buffer, random: Random) =>
  random.oneIn(6) ? Buffer.concat([Buffer.from([0x3f, random.below(128)]), block]) : block;

const times = (random: Random) => (random.oneIn(3) ? 1 + random.below(4) : 1);

function lengthOf(block: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(block.length);
  return length;
}

function cutBlocks(input: Buffer): Buffer[] {
  const blocks: Buffer[] = [];
  for (let at = 0; at + LENGTH_BYTES <= input.length;) {
    const end = at + LENGTH_BYTES + input.readUInt16BE(at);
    blocks.push(Buffer.from(input.subarray(at + LENGTH_BYTES, end)));
    at = end;
  }
  return blocks;
}

/** The blocks of HEADERS without padding, as far as one frame holds them. */
function blocksOf(frames: readonly Buffer[]): Buffer[] {
  const headers = frames.filter(
    (piece) => piece[3] === FrameType.headers && ((piece[4] ?? 0) & Flag.padded) === 0,
  );
  return headers.map((piece) => piece.subarray(((piece[4] ?? 0) & Flag.priority) === 0 ? 9 : 14));
}

/** The same fields in our table as in the reference's, and no more memory than they need. */
function checkTable({ table, headers: { literals } }: Decoder, reference: ReferenceHpack): void {
  const ours = Array.from({ length: table.count }, (_, age) => {
    const field = dynamicField(table, age);
    return [field?.name, field?.value];
  });
  expectSame('dynamic table', JSON.stringify(ours), JSON.stringify(reference.table));
  const bytes = reference.table.reduce(
    (sum, [name, value]) => sum + name.length + value.length + 32,
    0,
  );
  if (table.bytes !== bytes || bytes > table.maxBytes) throw new Error('the table counts wrongly');
  const kept = table.ring.filter((field) => field !== undefined).length;
  if (kept !== table.count || table.ring.length > 256) throw new Error('the table keeps too much');
  if (literals.scratch.length > 2 * 65_536) throw new Error('the scratch memory grows');
}
