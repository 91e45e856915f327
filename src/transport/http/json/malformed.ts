/** A body that is no request (`malformed`), or one beyond the bounds (`too_much`): what is wrong and where. */
export interface MalformedBody {
  readonly kind: 'malformed' | 'too_much';
  /** A lowercase sentence that names the place, the value and what was expected. */
  readonly message: string;
  /** Path of the value (`descriptors[0].entries[1].key`), `body` for the whole. */
  readonly where: string;
  /** Place in the text, counted from 1. */
  readonly line: number;
  readonly column: number;
}

/** How the reader leaves; caught where the reading began. */
export class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
  readonly code = 'malformed_json';
  readonly body: MalformedBody;
  constructor(body: MalformedBody) {
    super(body.message);
    this.body = body;
  }
}
