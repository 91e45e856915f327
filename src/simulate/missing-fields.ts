import type { LogFacts } from './log-facts';
import type { LogMap } from './map-file';

/** The fields that a map uses, by their words in a report. */
interface Asked {
  readonly text: string;
  readonly isIn: (facts: LogFacts) => boolean;
}

/** Notes which of the fields and headers that a map uses occur in no line. */
export class MissingFields {
  #left: readonly Asked[];
  #lines = 0;

  constructor(map: LogMap) {
    const asked = new Map<string, Asked>();
    const ask = (one: Asked) => asked.set(one.text, one);
    for (const { when, entries } of map.descriptors) {
      if (when !== undefined) ask(askField(when.field));
      for (const { source } of entries) {
        if (source.kind === 'field' || source.kind === 'masked_address')
          ask(askField(source.field));
        if (source.kind === 'header') ask(askHeader(source.name));
        if (source.kind === 'cookie') ask(askHeader('cookie'));
        if (source.kind === 'parameter') ask(askField('query'));
      }
    }
    this.#left = [...asked.values()];
  }

  note(facts: LogFacts): void {
    this.#lines += 1;
    if (this.#left.some(({ isIn }) => isIn(facts)))
      this.#left = this.#left.filter(({ isIn }) => !isIn(facts));
  }

  /** `field "tenant"`, `header "x-user"`; none where there was no line. */
  texts(): readonly string[] {
    return this.#lines === 0 ? [] : this.#left.map(({ text }) => text);
  }
}

function askField(name: string): Asked {
  return { text: `field ${JSON.stringify(name)}`, isIn: (facts) => facts.hasField(name) };
}

function askHeader(name: string): Asked {
  return { text: `header ${JSON.stringify(name)}`, isIn: (facts) => facts.hasHeader(name) };
}
