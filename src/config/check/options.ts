/** What the command line of `ratelimit-config-check` asks for. */
export type CheckOptions =
  | { readonly kind: 'check'; readonly directory: string; readonly mergeDomains: boolean }
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly message: string };

export const USAGE = `usage: ratelimit-config-check -config_dir DIR [-merge_domain_configs]

Reads the *.yaml files of DIR as the service does and prints every mistake in them.

  -config_dir DIR         the directory that holds the rule files
  -merge_domain_configs   several files may have the same domain (MERGE_DOMAIN_CONFIG=true)
  -help                   print this

Flags may be written with one dash or two. Exit status: 0 when the service would take the
rules (also with warnings), else 1.`;

const TRUES = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSES = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

/** Reads flags as Go's `flag` package writes them: `-name value`, `-name=value`, `-switch`. */
export function parseCheckOptions(args: readonly string[]): CheckOptions {
  const rest = [...args];
  let directory = '';
  let merge = 'false';
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, name, value] = /^--?([a-z_]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (name === 'h' || name === 'help') return { kind: 'help' };
    if (name === 'config_dir') directory = value ?? rest.shift() ?? '';
    else if (name === 'merge_domain_configs') merge = value ?? 'true';
    else return mistake(`unknown argument ${JSON.stringify(arg)}`);
  }
  return toOptions(directory, merge);
}

function toOptions(directory: string, merge: string): CheckOptions {
  const mergeDomains = TRUES.includes(merge);
  if (directory === '') return mistake('-config_dir needs a directory');
  if (!mergeDomains && !FALSES.includes(merge)) {
    return mistake(`-merge_domain_configs is either true or false, not ${JSON.stringify(merge)}`);
  }
  return { kind: 'check', directory, mergeDomains };
}

function mistake(message: string): CheckOptions {
  return { kind: 'mistake', message };
}
