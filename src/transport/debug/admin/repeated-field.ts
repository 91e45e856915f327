/** A string, or a sign that opens or closes an object or a list, or one that parts names from values. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;

/**
 * The first name that an object of this JSON text gives twice, by either of its spellings (`hitsAddend`, `hits_addend`).
 * `JSON.parse` keeps the last one alone and says nothing.
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

/** Of each object that is open its names so far; undefined for a list. */
type Open = (Set<string> | undefined)[];

function follow(open: Open, token: string): void {
  if (token === '{') open.push(new Set());
  else if (token === '[') open.push(undefined);
  else if (token === '}' || token === ']') open.pop();
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
