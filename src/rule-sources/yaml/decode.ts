import { isUtf8 } from 'node:buffer';
import type { Report } from '../../fields/report';

/** The text of a file: UTF-8, or UTF-16 with a byte order mark. Undefined, and reported, when the bytes are neither. */
export function decodeText(content: string | Uint8Array, report: Report): string | undefined {
  if (typeof content === 'string') return normalize(content);
  const text = textOfBytes(content);
  if (text !== undefined) return text;
  report.error(
    findInvalid(content),
    'invalid-encoding',
    'the file is not valid UTF-8 from here on',
  );
  return undefined;
}

/** The text without a byte order mark; undefined when the bytes are neither UTF-8 nor UTF-16 with a mark. */
export function textOfBytes(bytes: Uint8Array): string | undefined {
  const encoding = encodingOf(bytes);
  if (encoding !== 'utf-8') return normalize(new TextDecoder(encoding).decode(bytes));
  return isUtf8(bytes) ? normalize(new TextDecoder().decode(bytes)) : undefined;
}

function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** Other line ends in YAML 1.1 (§4.1.4): a carriage return alone, and three of Unicode's. */
const OTHER_LINE_ENDS = /\r(?!\n)|[\x85\u2028\u2029]/g;

/** Removes the byte order mark, and turns all line ends into line feeds. */
function normalize(text: string): string {
  const unmarked = text.startsWith('\ufeff') ? text.slice(1) : text;
  return unmarked.replaceAll(OTHER_LINE_ENDS, '\n');
}

const LINE_FEED = 0x0a;

function findInvalid(bytes: Uint8Array) {
  let line = 1;
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(LINE_FEED, start);
    const content = bytes.subarray(start, end === -1 ? undefined : end);
    if (end === -1 || !isUtf8(content)) {
      const column = new TextDecoder().decode(content).indexOf('\ufffd') + 1;
      return { line, column };
    }
    line += 1;
    start = end + 1;
  }
}
