/** Called for what the server sends, line by line; the data of a value come with its line. */
export interface ReplyHandler {
  /** An item of a `get`. */
  onValue(key: string, data: string): void;
  /** Any other line: `END`, `STORED`, a number, an error. */
  onLine(line: string): void;
}

const LINE_FEED = 10;

/** Longer than any line of a reply to us. */
const MAX_LINE_BYTES = 2_048;

/** A counter has at most 20 digits; a value that others wrote under its key is at most 1 MiB unless the server is configured otherwise. */
const MAX_VALUE_BYTES = 8 * 1024 * 1024;

/** A key ends at an ASCII space; `\s` of JavaScript includes spaces that a key may contain. */
const VALUE = /^VALUE ([^ ]+) \d+ (\d+)(?: \d+)?$/;

/** Parses bytes as they come; throws on anything that is not memcached's protocol. */
export function createReplyReader(handler: ReplyHandler) {
  /** Received parts of an incomplete item. */
  let pieces: Buffer[] = [];
  let bytesHeld = 0;
  /** The item's size where it is known: joining the parts earlier would take quadratic time. */
  let bytesWanted = 0;

  /** Returns where the next item begins; the same position when it is not complete yet. */
  const readOne = (bytes: Buffer, start: number): number => {
    bytesWanted = 0;
    const end = bytes.indexOf(LINE_FEED, start);
    if (end === -1) {
      if (bytes.length - start > MAX_LINE_BYTES) throw new Error('a line of its reply is too long');
      return start;
    }
    const line = bytes.toString('utf8', start, bytes[end - 1] === 13 ? end - 1 : end);
    const [, key, size = ''] = VALUE.exec(line) ?? [];
    if (key === undefined) {
      handler.onLine(line);
      return end + 1;
    }
    const dataEnd = end + 1 + Number(size);
    if (Number(size) > MAX_VALUE_BYTES) throw new Error('a value of its reply is too long');
    if (bytes.length < dataEnd + 2) {
      bytesWanted = dataEnd + 2 - start;
      return start;
    }
    handler.onValue(key, bytes.toString('latin1', end + 1, dataEnd));
    return dataEnd + 2;
  };

  return {
    read(chunk: Buffer) {
      pieces.push(chunk);
      bytesHeld += chunk.length;
      if (bytesHeld < bytesWanted) return;
      const bytes = pieces.length === 1 ? chunk : Buffer.concat(pieces, bytesHeld);
      let at = 0;
      for (let next = readOne(bytes, at); next > at; next = readOne(bytes, at)) at = next;
      pieces = at === bytes.length ? [] : [bytes.subarray(at)];
      bytesHeld = bytes.length - at;
    },
  };
}
