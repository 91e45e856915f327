/** What a value may hold without quotes, as logrus has it. */
const PLAIN = /^[A-Za-z0-9\-._/@^+]+$/;
/** Control and format characters and line separators: what could forge, hide or reorder a line. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A value of a `key=value` line: bare when it is simple, else quoted and escaped as in JSON. */
export function logfmtValue(text: string): string {
  return PLAIN.test(text) ? text : escapeInvisible(JSON.stringify(text));
}

/** Escapes what JSON leaves as it is but a terminal or a reader of lines would obey. */
export function escapeInvisible(json: string): string {
  return json.replace(INVISIBLE, (character) => {
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}
