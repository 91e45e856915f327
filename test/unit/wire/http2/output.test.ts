import fc from 'fast-check';
import {
  createOutput,
  shrink,
  recycle,
  reserve,
  takeChunk,
  type Output,
} from '../../../../src/wire/http2/output';

function write(output: Output, size: number, fill: number): void {
  const at = reserve(output, size);
  output.bytes.fill(fill, at, at + size);
}

describe('the output of a connection', () => {
  it('gives nothing when there is nothing', () => {
    expect(takeChunk(createOutput())).toBeUndefined();
  });

  it('hands over without a copy, and writes on behind the piece', () => {
    const output = createOutput();
    write(output, 10, 1);
    const first = takeChunk(output);
    write(output, 10, 2);
    const second = takeChunk(output);
    expect(second?.buffer).toBe(first?.buffer);
    expect(second?.byteOffset).toBe((first?.byteOffset ?? 0) + 10);
  });

  it('uses the memory from its beginning again when all pieces are back', () => {
    const output = createOutput();
    write(output, 10, 1);
    const first = takeChunk(output) ?? new Uint8Array(0);
    write(output, 10, 2);
    const second = takeChunk(output) ?? new Uint8Array(0);
    recycle(output, first);
    expect(output.end).toBe(20);
    recycle(output, second);
    recycle(output, second);
    expect(output.end).toBe(0);
  });

  it('moves what is pending to the front instead of growing', () => {
    const output = createOutput();
    write(output, 900, 1);
    const first = takeChunk(output) ?? new Uint8Array(0);
    write(output, 100, 2);
    recycle(output, first);
    const { bytes } = output;
    write(output, 100, 3);
    expect(output.bytes).toBe(bytes);
    expect(Buffer.from(takeChunk(output) ?? []).toString('hex')).toBe(
      '02'.repeat(100) + '03'.repeat(100),
    );
  });

  it('lets large memory go once it is written, and all of it when a connection rests', () => {
    const output = createOutput();
    write(output, 200_000, 1);
    expect(output.bytes).toHaveLength(262_144);
    recycle(output, takeChunk(output) ?? new Uint8Array(0));
    expect(output.bytes).toHaveLength(0);
    write(output, 10, 1);
    shrink(output);
    expect(output.end).toBe(10);
    takeChunk(output);
    shrink(output);
    expect(output.bytes).toHaveLength(1024);
    shrink(output);
    expect(output.bytes).toHaveLength(0);
    recycle(output, new Uint8Array(4));
    expect(takeChunk(output)).toBeUndefined();
  });

  const step = fc.record({
    size: fc.integer({ min: 1, max: 3000 }),
    take: fc.boolean(),
    release: fc.boolean(),
    relax: fc.boolean(),
  });

  it('never changes a piece that is not back, and loses no octet', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const output = createOutput();
        const lent: { piece: Uint8Array; text: string }[] = [];
        let written = '';
        let taken = '';
        steps.forEach(({ size, take, release, relax }, index) => {
          write(output, size, 65 + (index % 26));
          written += String.fromCharCode(65 + (index % 26)).repeat(size);
          if (take) {
            const piece = takeChunk(output) ?? new Uint8Array(0);
            lent.push({ piece, text: Buffer.from(piece).toString() });
            taken += Buffer.from(piece).toString();
          }
          if (relax) shrink(output);
          for (const { piece, text } of lent) expect(Buffer.from(piece).toString()).toBe(text);
          if (release) {
            const back = lent.shift();
            if (back !== undefined) recycle(output, back.piece);
          }
        });
        taken += Buffer.from(takeChunk(output) ?? []).toString();
        expect(taken).toBe(written);
      }),
    );
  });
});
