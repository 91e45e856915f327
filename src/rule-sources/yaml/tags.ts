const STANDARD = 'tag:yaml.org,2002:';
const TYPES = new Set(
  ['int', 'float', 'bool', 'null', 'map', 'seq', 'merge'].map((name) => STANDARD + name),
);

/** Whether the tag makes a text of an unquoted scalar: `!!str 010`, `! 010`. */
export function isTextTag(tag: string | undefined): boolean {
  return tag === `${STANDARD}str` || tag === '!';
}

/** Whether the tag asks for the type that an unquoted scalar or a collection has anyway: `!!int "5"`. */
export function isTypeTag(tag: string | undefined): boolean {
  return tag !== undefined && TYPES.has(tag);
}
