import type { Message } from 'protobufjs';
import { createRequestDecoder, isMalformed } from '../../src/wire/ratelimit/decode-request';
import { decodeHealthRequest } from '../../src/wire/grpc/health';
import type { WireRequest } from '../../src/wire/ratelimit/messages';
import { requestType } from '../unit/wire/ratelimit/schema';
import { checkResponse } from './check-response';
import { mutateOctets } from './mutate';
import { walkRequest } from './protobuf-walk';
import type { Random } from './random';
import { pickSession, type Corpus } from './sessions';
import { expectSame, type Target } from './target';
import { UNBOUNDED } from '../support/bounds';

const PREFIX_BYTES = 14;
const TEXTS = ['', 'user', 'remote_address', '/grüße', '\u0000', '漢字', 'x'.repeat(200)];
const NUMBERS = [
  '0',
  '1',
  '127',
  '128',
  '4294967295',
  '9007199254740991',
  '9007199254740992',
  '18446744073709551615',
];

/** Requests as protobufjs writes them or a client sent them, whole and changed. */
export function createProtobufTarget(corpus: Corpus): Target {
  const decode = createRequestDecoder(UNBOUNDED);
  return {
    name: 'protobuf',
    make: (random) => {
      const message = random.oneIn(3) ? captured(random, corpus) : generated(random);
      return random.oneIn(4) ? message : mutateOctets(message, random);
    },
    check(input, random) {
      const decoded = decode(input, 0, input.length);
      const around = random.bytes(random.below(20));
      const framed = Buffer.concat([around, input, around]);
      const again = decode(framed, around.length, around.length + input.length);
      framed.fill(0xaa);
      expectSame('with octets around', textOf(again), textOf(decoded));
      const { isValid, isStrict } = walkRequest(input);
      if (isMalformed(decoded) === isValid)
        throw new Error(`valid is ${String(isValid)}: ${textOf(decoded)}`);
      const judged = isStrict ? theirs(input) : undefined;
      if (judged !== undefined) expectSame('protobufjs', textOf(decoded), judged);
      decodeHealthRequest(input, 0, input.length);
      checkResponse(random);
    },
  };
}

function captured(random: Random, corpus: Corpus): Buffer {
  const bodies = pickSession(random, corpus).filter((piece) => piece[3] === 0);
  return bodies.length === 0
    ? random.bytes(random.below(60))
    : random.pick(bodies).subarray(PREFIX_BYTES);
}

function generated(random: Random): Buffer {
  const some = <T>(make: () => T, most: number) => Array.from({ length: random.below(most) }, make);
  const text = () => random.pick(TEXTS);
  const uint32 = () => Number(random.pick(NUMBERS.slice(0, 5)));
  const request = {
    domain: text(),
    hitsAddend: uint32(),
    descriptors: some(
      () => ({
        entries: some(() => ({ key: text(), value: text() }), 4),
        isNegativeHits: random.oneIn(2),
        ...(random.oneIn(2) && { limit: { requestsPerUnit: uint32(), unit: random.below(9) - 1 } }),
        ...(random.oneIn(2) && { hitsAddend: { value: random.pick(NUMBERS) } }),
      }),
      4,
    ),
  };
  return Buffer.from(requestType.encode(requestType.fromObject(request)).finish());
}

interface TheirDescriptor {
  readonly entries: WireRequest['descriptors'][number]['entries'];
  readonly limit: object | null;
  readonly hitsAddend: { readonly value: string } | null;
  readonly isNegativeHits: boolean;
}

/** What protobufjs reads, in our shape; undefined where it refuses (varints longer than they must be, at the end). */
function theirs(input: Buffer): string | undefined {
  let message: Message;
  try {
    message = requestType.decode(input);
  } catch {
    return undefined;
  }
  const { domain, descriptors, hitsAddend } = requestType.toObject(message, {
    defaults: true,
    arrays: true,
    longs: String,
  }) as { domain: string; descriptors: TheirDescriptor[]; hitsAddend: number };
  return JSON.stringify({
    domain,
    descriptors: descriptors.map((one) => ({
      entries: one.entries,
      limit: one.limit ?? 'absent',
      hits: one.hitsAddend?.value ?? 'absent',
      isNegativeHits: one.isNegativeHits,
    })),
    hitsAddend,
  });
}

function textOf(decoded: ReturnType<ReturnType<typeof createRequestDecoder>>): string {
  if (isMalformed(decoded)) return decoded.reason;
  const { domain, descriptors, hitsAddend } = decoded;
  return JSON.stringify({
    domain,
    descriptors: descriptors.map(({ entries, limit, hits, isNegativeHits }) => ({
      entries,
      limit: limit ?? 'absent',
      hits: hits?.toString() ?? 'absent',
      isNegativeHits,
    })),
    hitsAddend,
  });
}
