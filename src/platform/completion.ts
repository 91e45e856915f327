/**
 * A line of bash that completes a command: its flags and the words of its subcommands, taken from the beginnings of the indented
 * lines of its help.
 */
export function completionOf(command: string, help: string): string {
  const words = new Set(help.match(/(?<=^ {2}(?:.*[ [])?)--?[a-z][a-z0-9_-]*/gm));
  for (const [, line = ''] of help.matchAll(new RegExp(`^ {2}${command} ([a-z -]+)`, 'gm')))
    for (const word of line.trim().split(' ')) words.add(word);
  return `complete -o default -W '${[...words].join(' ')}' ${command}\n`;
}
