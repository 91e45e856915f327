import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { simulate } from '../../../src/simulate/simulate';

const PAGE = readFileSync('docs/simulate/README.md', 'utf8');

interface Example {
  readonly args: readonly string[];
  /** What the page prints below the command, in the pieces that `…` leaves. */
  readonly pieces: readonly string[];
}

const examples: readonly Example[] = [
  ...PAGE.matchAll(/^```sh\n\$ npx ([^\n]*)\n([^]*?)^```$/gm),
].map(([, command = '', output = '']) => ({
  args: (command.split(' || ')[0] ?? '').split(' ').slice(1),
  pieces: output.split('…\n').filter((piece) => piece !== ''),
}));

async function printed(args: readonly string[]): Promise<string> {
  let text = '';
  const sink = { write: (piece: string) => (text += piece) };
  const code = await simulate(args, { stdin: Readable.from([]), stdout: sink, stderr: sink });
  return code === 0 ? text : `${text}exit status ${String(code)}\n`;
}

/** Where the text goes on after the pieces, one after another; -1: one of them is not there. */
function endOfPieces(text: string, pieces: readonly string[]): number {
  return pieces.reduce((from, piece) => {
    const at = from < 0 ? -1 : text.indexOf(piece, from);
    return at < 0 ? -1 : at + piece.length;
  }, 0);
}

it('finds the examples of the page', () => {
  expect(examples).toHaveLength(3);
});

it.each(examples)('prints what the page shows: $args', async ({ args, pieces }) => {
  const text = await printed(args);
  expect({ pieces, text, isFound: endOfPieces(text, pieces) >= 0 }).toMatchObject({
    isFound: true,
  });
});

it.each(examples)('shows a decision that is refused: $args', async ({ args }) => {
  const text = await printed(args);
  expect(text).not.toContain('matched no limit');
  expect(text).toContain('refused most often');
});

it('says every exit status as -help does', async () => {
  const help = await printed(['-help']);
  const ofHelp = [...help.matchAll(/^ {2}(\d) {2}/gm)].map(([, status]) => status);
  const ofPage = [...PAGE.matchAll(/^\| (\d) /gm)].map(([, status]) => status);
  expect(ofHelp).toEqual(['0', '1', '3']);
  expect(ofPage).toEqual(ofHelp);
});
