import { LineCounter } from 'yaml';
import type { Place } from '../../fields/problem';

/** Turns offsets of a text into lines and columns. */
export type PlaceOf = (offset: number) => Place;

export function createPlaceOf(text: string): PlaceOf {
  const counter = new LineCounter();
  counter.addNewLine(0);
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) {
    counter.addNewLine(end + 1);
  }
  return (offset) => {
    const { line, col } = counter.linePos(Math.max(0, offset));
    return { line, column: col };
  };
}
