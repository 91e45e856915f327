/** What the server says, line by line; the data of a value belongs to its line. */
export interface ReplyHandler {
  /** An item of a `get`. */
  onValue(key: string, data: string): void;
  /** Any other line: `END`, `STORED`, a number, an error. */
  onLine(line: string): void;
}

/** Takes bytes as they come; throws on what is not memcached. */
export interface ReplyReader {
  read(chunk: Buffer): void;
}

const LINE_FEED = 10;

/** Longer than any line of a reply to us. */
const LONGEST_LINE = 2_048;

/** A counter has at most 20 digits; what others wrote under its name is at most 1 MiB unless a server is told otherwise. */
const LONGEST_VALUE = 8 * 1024 * 1024;

const VALUE = /^VALUE (\S+) \d+ (\d+)(?: \d+)?$/;

const EMPTY = Buffer.alloc(0);

export function createReplyReader(handler: ReplyHandler): ReplyReader {
  let rest: Buffer = EMPTY;

  /** Where the next thing begins; the same place when it is not complete yet. */
  const readOne = (bytes: Buffer, start: number): number => {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end === -1) {
      if (bytes.length - start > LONGEST_LINE) throw new Error('a line of its reply has no end');
      return start;
    }
    const line = bytes.toString('utf8', start, bytes[end - 1] === 13 ? end - 1 : end);
    const [, key, size = ''] = VALUE.exec(line) ?? [];
    if (key === undefined) {
      handler.onLine(line);
      return end + 1;
    }
    const dataEnd = end + 1 + Number(size);
    if (Number(size) > LONGEST_VALUE) throw new Error('a value of its reply is too long');
    if (bytes.length < dataEnd + 2) return start;
    handler.onValue(key, bytes.toString('latin1', end + 1, dataEnd));
    return dataEnd + 2;
  };

  return {
    read(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let at = 0;
      for (let next = readOne(bytes, at); next > at; next = readOne(bytes, at)) at = next;
      rest = at === bytes.length ? EMPTY : bytes.subarray(at);
    },
  };
}
