/** Servers' own sentences about AUTH: they reveal nothing about a password that is a word in them. */
const SENTENCES = [
  /^WRONGPASS invalid username-password pair(?: or user is disabled\.?)?$/,
  /^NOAUTH Authentication required\.?$/,
  /^NOPERM [Tt]his user has no permissions to run the 'auth' command(?: or its subcommand)?$/,
  /^ERR AUTH <password> called without any password configured for the default user\. Are you sure your configuration is correct\?$/,
  /^ERR Client sent AUTH, but no (?:username-password pair|password) is set(?:\. .*)?$/,
  /^ERR invalid password$/,
  /^ERR wrong number of arguments for 'auth' command$/,
  /^ERR unknown command [`']AUTH[`']$/i,
  /^(?:OOM command not allowed|LOADING Redis is loading|BUSY Redis is busy|MASTERDOWN Link with MASTER|MISCONF Redis is configured|NOREPLICAS Not enough|READONLY You can't write) ?[\w\s',.'()>-]*$/,
];

/** After these words a server repeats the arguments of an unknown command, cut to a length of its own. */
const ARGUMENTS = /(, with args beginning with:).*$/s;

/** A shorter password may be a part of any word. */
const TELLING_LENGTH = 8;

/**
 * The answer of a server to AUTH, without the parts of the password that it repeats. The server's own words stay, even where they
 * contain the letters of the password.
 */
export function withoutPassword(answer: string, password: string): string {
  const words = answer.replace(ARGUMENTS, '$1 ***');
  if (SENTENCES.some((sentence) => sentence.test(words.replace(ARGUMENTS, '')))) return words;
  const literal = password.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const isWithinWords = password.length >= TELLING_LENGTH || /\W/.test(password);
  const repeated = isWithinWords ? literal : `(?<![\\w-])${literal}(?![\\w-])`;
  return words.replaceAll(new RegExp(repeated, 'g'), '***');
}
