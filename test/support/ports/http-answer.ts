import { gunzipSync } from 'node:zlib';

/** An answer of HTTP/1.1. */
export interface HttpAnswer {
  readonly status: number;
  /** The last of each name, in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Takes apart what a server wrote on a connection: all answers, in their order. A request HEAD gets no body. */
export function readAnswers(bytes: Buffer, isHead = false): readonly HttpAnswer[] {
  const answers: HttpAnswer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end === -1) throw new Error(`no head: ${bytes.toString('latin1', at)}`);
    const [first = '', ...lines] = bytes.toString('latin1', at, end).split('\r\n');
    const headers = new Map(lines.map(toHeader));
    const status = Number(first.split(' ')[1]);
    const hasBody = !isHead && status >= 200;
    const read = hasBody ? readBody(bytes.subarray(end + 4), headers) : NO_BODY;
    at = end + 4 + read.length;
    answers.push({ status, headers, body: unpacked(read.body, headers).toString() });
  }
  return answers;
}

function unpacked(body: Buffer, headers: ReadonlyMap<string, string>): Buffer {
  return headers.get('content-encoding') === 'gzip' && body.length > 0 ? gunzipSync(body) : body;
}

interface Body {
  readonly body: Buffer;
  /** How many bytes carry it. */
  readonly length: number;
}

const NO_BODY: Body = { body: Buffer.alloc(0), length: 0 };

function toHeader(line: string): readonly [name: string, value: string] {
  const at = line.indexOf(': ');
  return [line.slice(0, at).toLowerCase(), line.slice(at + 2)];
}

function readBody(rest: Buffer, headers: ReadonlyMap<string, string>): Body {
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(rest);
  const length = Number(headers.get('content-length') ?? rest.length);
  return { body: rest.subarray(0, length), length };
}

function readChunks(rest: Buffer): Body {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const end = rest.indexOf('\r\n', at);
    const size = parseInt(rest.toString('latin1', at, end), 16);
    if (end === -1 || Number.isNaN(size)) return { body: Buffer.from('CUT'), length: rest.length };
    chunks.push(rest.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
    if (size === 0) return { body: Buffer.concat(chunks), length: at };
  }
}
