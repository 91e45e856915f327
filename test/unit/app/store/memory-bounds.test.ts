import { memoryBounds, memoryWarning } from '../../../../src/app/store/memory-store';

const MIB = 2 ** 20;
const memory = (maxBytes?: number) => ({ maxKeys: 1_000, maxBytes });

it.each([
  [128, 64],
  [1_000, 500],
  [1_024, 512],
  [4_096, 512],
])('where nothing is set, a heap of %d MiB holds counters of %d MiB', (heap, bytes) => {
  expect(memoryBounds(memory(), heap * MIB)).toEqual({ maxKeys: 1_000, maxBytes: bytes * MIB });
  expect(memoryWarning(memory(), heap * MIB)).toBeUndefined();
});

it('what is set holds, with a warning where it is more than half of the heap', () => {
  expect(memoryBounds(memory(100 * MIB), 128 * MIB).maxBytes).toBe(100 * MIB);
  expect(memoryWarning(memory(64 * MIB), 128 * MIB)).toBeUndefined();
  expect(memoryWarning(memory(64 * MIB + 1), 128 * MIB)).toBe(
    'MEMORY_MAX_BYTES=67108865 is more than half of the heap limit, and the heap would be full first: expected at most 67108864, or a larger --max-old-space-size in NODE_OPTIONS',
  );
});
