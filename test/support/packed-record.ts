/*
 * The record of a budget as Redis keeps it: `<part> <number of figures>;` for each part, the end of the line, and the figures as
 * little-endian doubles; here as text, `<part> <figures>;`, without blocks that say nothing.
 */

export function unpackRecord(bytes: Buffer): string {
  if (bytes.length === 0) return '';
  const end = bytes.indexOf('\n');
  let at = end + 1;
  const parts = bytes.toString('utf8', 0, end).split(';').slice(0, -1);
  const logs = new Map<string, number[]>();
  const texts = parts.map((part) => {
    const [id = '', count = '0'] = part.split(' ');
    const figures = Array.from({ length: Number(count) }, () => {
      at += 8;
      return bytes.readDoubleLE(at - 8);
    });
    const isLast = !parts.some((one) => one.startsWith(nextOf(id)));
    return textOf(id, figures, { logs, isLast });
  });
  if (at !== bytes.length) throw new Error(`${String(bytes.length - at)} bytes too many`);
  return texts.join('');
}

interface Place {
  /** Of each log the hits so far. */
  readonly logs: Map<string, number[]>;
  readonly isLast: boolean;
}

function textOf(id: string, figures: readonly number[], { logs, isLast }: Place): string {
  const log = /^(l\d+)(?:\+\d+)?$/.exec(id)?.[1];
  if (log === undefined) {
    const isQuiet = id.startsWith('b') && figures.every((figure) => figure === 0);
    return isQuiet ? '' : `${[id, ...figures].join(' ')};`;
  }
  const times = [...(logs.get(log) ?? []), ...figures.filter((figure) => figure > 0)];
  logs.set(log, times);
  return isLast ? `${[log, ...(times.length === 0 ? [0] : times)].join(' ')};` : '';
}

/** How the next part of a log begins. */
function nextOf(id: string): string {
  const [log, at = '0'] = id.split('+');
  return `${String(log)}+${String(Number(at) + 1)} `;
}

export function packRecord(text: string): Buffer {
  const parts = text
    .split(';')
    .slice(0, -1)
    .map((part) => part.split(' '));
  const layout = parts.map(([id = '', ...figures]) => `${id} ${String(figures.length)};`);
  const doubles = parts.flatMap(([, ...figures]) => figures.map(Number));
  const bytes = Buffer.alloc(8 * doubles.length);
  for (const [at, figure] of doubles.entries()) bytes.writeDoubleLE(figure, 8 * at);
  return Buffer.concat([Buffer.from(`${layout.join('')}\n`), bytes]);
}
