/** A limit that was hit and the time until it resets. */
export interface Block {
  readonly limit: number | undefined;
  readonly untilMs: number;
}

/** The addresses that are over one limit, until its window ends. */
export interface Blocks {
  find(address: string): Block | undefined;
  add(address: string, block: Block): void;
}

/** @param most so many addresses are remembered, the newest. */
export function createBlocks(monotonicMs: () => number, most: number): Blocks {
  const blocks = new Map<string, Block>();
  return {
    find(address) {
      const block = blocks.get(address);
      if (block === undefined || block.untilMs > monotonicMs()) return block;
      blocks.delete(address);
      return undefined;
    },
    add(address, block) {
      blocks.delete(address);
      const [oldest] = blocks.keys();
      if (blocks.size >= most && oldest !== undefined) blocks.delete(oldest);
      blocks.set(address, block);
    },
  };
}
