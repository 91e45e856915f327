import fc from 'fast-check';
import {
  attributeKey,
  spanShape,
  spansOrigin,
  toSpanIds,
  type SpanIds,
} from '../../../../src/wire/otlp/shapes';
import { createSpanWriter, type SpanWriter } from '../../../../src/wire/otlp/span-writer';
import { encodeByLibrary, hex, type ToldSpan } from '../../../support/library-spans';
import { decodeRequest, decodeSpans } from '../../../support/otlp-messages';

const HEX = Array.from({ length: 16 }, (_, digit) => digit.toString(16));
const word = fc.integer();
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 10 }),
  fc.integer({ min: 120, max: 300 }).map((length) => 'x'.repeat(length)),
  fc.integer({ min: 5_000, max: 20_000 }).map((length) => 'ü'.repeat(length)),
  fc.constant(''),
);
const ids: fc.Arbitrary<SpanIds> = fc.record({
  ...{ trace0: word, trace1: word, trace2: word, trace3: word, span0: word, span1: word },
  traceState: fc.oneof(fc.constant(''), fc.string({ maxLength: 200 })),
  isRemote: fc.boolean(),
});
/** As the clock gives them today, and up to the last that 64 bits hold; its steps are 1/4096 ms. */
const time = fc.oneof(
  fc.tuple(fc.nat(2 ** 41), fc.nat(4_095)).map(([ms, part]) => ms + part / 4_096),
  fc.constantFrom(0, 0.5, 2 ** 20 - 1, 2 ** 20, 4_294.967295, 4_294.967296, 18_446_744_073_709),
);
const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 150 });
const number = fc.oneof(fc.nat(), fc.constantFrom(0, 127, 128, 2 ** 32, 2 ** 53 - 1));
const record = fc.dictionary(name, text, { maxKeys: 4, noNullPrototype: true });

const told: fc.Arbitrary<ToldSpan> = fc
  .record({
    name,
    kind: fc.constantFrom(1, 2, 3),
    ids,
    parent: fc.option(ids, { nil: undefined }),
    ...{ startMs: time, endMs: time, fixed: record },
    attributes: fc.uniqueArray(fc.tuple(name, fc.oneof(text, number)), {
      maxLength: 5,
      selector: ([key]) => key,
    }),
    links: fc.array(ids, { maxLength: 10 }),
    droppedLinks: fc.nat(1_000),
    error: fc.option(text, { nil: undefined }),
  })
  .filter(({ fixed, attributes }) => attributes.every(([key]) => !Object.hasOwn(fixed, key)));

function write(writer: SpanWriter, span: ToldSpan): void {
  const shape = spanShape(span.name, span.kind, span.fixed);
  writer.begin(shape, span.ids, span.parent, span.startMs, span.endMs);
  for (const [key, value] of span.attributes) {
    if (typeof value === 'string') writer.text(attributeKey(key), value);
    else writer.count(attributeKey(key), value);
  }
  for (const link of span.links) writer.link(link);
  if (span.droppedLinks > 0) writer.droppedLinks(span.droppedLinks);
  writer.end(span.error);
}

describe('createSpanWriter', () => {
  it('says of all spans what the serializer of OpenTelemetry says', () => {
    fc.assert(
      fc.property(
        fc.array(told, { minLength: 1, maxLength: 8 }),
        record,
        text,
        (spans, own, scope) => {
          const writer = createSpanWriter(spansOrigin(own, scope));
          for (const span of spans) write(writer, span);
          const ours = decodeRequest(writer.take());
          expect(ours).toEqual(decodeRequest(encodeByLibrary(spans, own, scope)));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('uses its memory again, and what it gave before stays as it was', () => {
    const writer = createSpanWriter(spansOrigin({}, 'test'));
    const [one, other] = fc.sample(told, { numRuns: 2, seed: 7 }) as [ToldSpan, ToldSpan];
    write(writer, one);
    const first = writer.take();
    write(writer, other);
    const second = writer.take();
    expect(decodeSpans(first).map((span) => span.name)).toEqual([one.name]);
    expect(decodeSpans(second).map((span) => span.name)).toEqual([other.name]);
    expect(decodeSpans(writer.take())).toEqual([]);
  });
});

describe('toSpanIds', () => {
  it('gives the digits that came back', () => {
    const digits = (length: number) =>
      fc.string({
        unit: fc.constantFrom(...HEX),
        minLength: length,
        maxLength: length,
      });
    fc.assert(
      fc.property(digits(32), digits(16), (traceId, spanId) => {
        const from = toSpanIds(traceId, spanId, 'a=b');
        expect(hex(from.trace0, from.trace1, from.trace2, from.trace3)).toBe(traceId);
        expect(hex(from.span0, from.span1)).toBe(spanId);
        expect(from).toMatchObject({ traceState: 'a=b', isRemote: true });
      }),
    );
  });
});
