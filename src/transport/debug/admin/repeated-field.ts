/** A string, or a token that opens or closes an object or a list, or a comma. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;

/**
 * The first name that occurs twice in an object of this JSON text, in either of its spellings (`hitsAddend`, `hits_addend`).
 * `JSON.parse` silently keeps only the last one.
 */
export function findRepeatedField(text: string): string | undefined {
  const open: Open = [];
  let isName = false;
  for (const [token] of text.matchAll(TOKEN)) {
    if (isName && token.startsWith('"')) {
      const name = toCamelCase(JSON.parse(token) as string);
      const names = open.at(-1);
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
    follow(open, token);
    isName = '{,'.includes(token) && open.at(-1) !== undefined;
  }
  return undefined;
}

/** For each open object its names so far; undefined for a list. */
type Open = (Set<string> | undefined)[];

function follow(open: Open, token: string): void {
  if (token === '{') open.push(new Set());
  else if (token === '[') open.push(undefined);
  else if (token === '}' || token === ']') open.pop();
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
