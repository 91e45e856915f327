const MAX_NAMED = 20;

/** `-config`, `--redis-url=redis://…`: the name of a flag. */
const FLAG = /^(--?[A-Za-z][A-Za-z_.-]{0,40})(?:=|$)/;

/** A path or a word that is typed as a command: not a secret. */
const PLAIN = /^[a-z/.-]{1,40}$/;

/**
 * Names arguments without anything that may be a secret: flags without their values, words before any flag, and the positions of
 * all others, such as separate values.
 */
export function nameArguments(words: readonly string[]): string {
  const named: string[] = [];
  let isAfterFlag = false;
  for (const [index, word] of words.entries()) {
    const flag = FLAG.exec(word)?.[1];
    isAfterFlag ||= flag !== undefined || word.startsWith('-');
    if (flag !== undefined) named.push(flag);
    else if (!isAfterFlag && PLAIN.test(word)) named.push(word);
    else named.push(`argument ${String(index + 1)} (not shown)`);
  }
  const more = named.length - MAX_NAMED;
  const shown = named.slice(0, MAX_NAMED).join(', ');
  return more > 0 ? `${shown} and ${String(more)} more` : shown;
}
