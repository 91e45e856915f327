import { parse } from 'yaml';

/** A case of a table: what is given, and the lines that come of it. */
export interface TableCase {
  readonly title: string;
  /** The text that holds the case. */
  readonly given: string;
  /** What `with` says above it. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly expected: readonly string[];
}

/**
 * Reads a table of cases: each line at the margin is one, or each run of lines that begin with `|`, and the indented lines below it
 * are what comes of it. `in`, with indented lines below it, is the text that holds what follows, in place of `%`; `with` has options
 * as YAML. Comments begin with `# `.
 */
export function readTable(text: string): readonly TableCase[] {
  const cases: TableCase[] = [];
  let frame = '%';
  let options: Readonly<Record<string, unknown>> = {};
  for (const { head, below } of blocksOf(text)) {
    if (head === 'in %') frame = '%';
    else if (head === 'in') frame = below.map((line) => `${line}\n`).join('');
    else if (/^with( |$)/.test(head)) options = parse(`{${head.slice(5)}}`) as typeof options;
    else cases.push({ title: head, given: inFrame(head, frame), options, expected: below });
  }
  return cases;
}

interface Block {
  readonly head: string;
  readonly below: readonly string[];
}

function blocksOf(text: string): readonly Block[] {
  const blocks: { head: string; below: string[] }[] = [];
  let isOpen = false;
  for (const line of text.split('\n')) {
    const last = blocks.at(-1);
    if (line.startsWith('  ')) last?.below.push(line.slice(2));
    else if (line.startsWith('|') && isOpen && last !== undefined)
      last.head += `\n${line.slice(2)}`;
    else if (line !== '' && !line.startsWith('# '))
      blocks.push({ head: line.replace(/^\| ?/, ''), below: [] });
    isOpen = line.startsWith('|');
  }
  return blocks;
}

/** Further lines stand below the first one. */
function inFrame(text: string, frame: string): string {
  const indent = /^( *)%$/m.exec(frame)?.[1] ?? '';
  return frame.replace('%', () => text.replace(/\n(?=.)/g, `\n${indent}`));
}
