/** A command of a page, and what the page says that it prints. */
export interface PageCommand {
  readonly command: string;
  /** The lines below a command that begins with `$`; empty where none are shown. */
  readonly output: readonly string[];
}

/** The lines of a block of shell, each as a command; what begins with `$` is followed by its output. */
export function commandsIn(block: string): readonly PageCommand[] {
  const lines = block
    .replaceAll(/\\\n\s*/g, '')
    .trimEnd()
    .split('\n');
  return lines.map((line, index) => ({
    command: line.replace(/^\$ /, '').replace(/\s+# .*$/, ''),
    output: line.startsWith('$ ') ? untilNextCommand(lines.slice(index + 1)) : [],
  }));
}

function untilNextCommand(lines: readonly string[]): readonly string[] {
  const end = lines.findIndex((line) => line.startsWith('$ '));
  return end < 0 ? lines : lines.slice(0, end);
}

/** Figures differ from run to run, all or those that `varying` finds, and `…` stands for more. */
export function patternOf(lines: readonly string[], varying = /\d+/g): RegExp {
  const escaped = lines.join('\n').replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll(varying, '\\d+').replaceAll('…', '[^]*')}\\s*$`);
}
