import type { ValueLimit } from '../../core/rules/rules';

/** The result of one read of fields: keeps only the first invalid text, since all of a large hash would need its memory again. */
export class ReadTally {
  found = '';
  invalid = 0;
  #present = 0;
  #gone = 0;

  /** `text` is null where the field is missing; `before`: the known limit of its value. */
  note(text: string | null, limit: ValueLimit | 'invalid' | undefined, before: unknown): void {
    if (text === null) {
      if (before !== undefined) this.#gone += 1;
      return;
    }
    this.#present += 1;
    if (limit !== 'invalid') return;
    if (this.invalid === 0) this.found = text;
    this.invalid += 1;
  }

  /** Number of fields that existed before, when none exists now; else 0. */
  get lost(): number {
    return this.#present === 0 ? this.#gone : 0;
  }

  get hasFields(): boolean {
    return this.#present > 0;
  }
}
