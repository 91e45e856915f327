/** The first command of a stream of RESP, its bytes as characters; undefined while it is incomplete. */
export function readCommand(text: string) {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (head === null) return undefined;
  const words: string[] = [];
  let end = head[0].length;
  while (words.length < Number(head[1])) {
    const line = /^\$(\d+)\r\n/.exec(text.slice(end, end + 20));
    if (line === null) return undefined;
    const start = end + line[0].length;
    end = start + Number(line[1]) + 2;
    if (end > text.length) return undefined;
    words.push(text.slice(start, end - 2));
  }
  return { words, end };
}

/** The same command again. */
export function writeCommand(words: readonly string[]): string {
  const bulk = words.map((word) => `$${String(word.length)}\r\n${word}\r\n`);
  return `*${String(words.length)}\r\n${bulk.join('')}`;
}
