import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

const BAR_WIDTH = 40;

/** Shows on a terminal how much of a log has been read, at each whole percent; `size` in bytes, undefined where it is unknown. */
export function createProgress(
  terminal: { write(text: string): unknown; readonly isTTY?: boolean },
  size: number | undefined,
) {
  const isShown = terminal.isTTY === true;
  let bytes = 0;
  let shown = '';
  const show = () => {
    const text =
      size === undefined ? `${megabytes(bytes)} read` : bar(size === 0 ? 1 : bytes / size);
    if (!isShown || text === shown) return;
    shown = text;
    terminal.write(`\r${text}`);
  };
  return {
    /** The text of a stream, piece by piece. */
    async *follow(source: Readable) {
      const decoder = new StringDecoder('utf8');
      for await (const chunk of source as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        show();
        yield decoder.write(chunk);
      }
      yield decoder.end();
    },
    /** Removes the bar. */
    end() {
      if (shown !== '') terminal.write(`\r${' '.repeat(shown.length)}\r`);
    },
  };
}

function bar(share: number): string {
  const filled = Math.floor(share * BAR_WIDTH);
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${percent} %`;
}

function megabytes(bytes: number): string {
  return `${String(Math.floor(bytes / 1_000_000))} MB`;
}
