import fc from 'fast-check';
import {
  faultOfKey,
  getCommand,
  createReplyReader,
} from '../../../../src/counters/memcached/protocol';

const LAST_CODE_POINT = 0x10ffff;

/** What a reader says of the answer to a question for one key; the server sends back the bytes that it was sent. */
function readBack(key: string): readonly string[] {
  const said: string[] = [];
  const reader = createReplyReader({
    onValue: (wireKey, data) => said.push(wireKey, data),
    onLine: (line) => said.push(line),
  });
  const wireKey = getCommand([key]).slice('get '.length, -'\r\n'.length);
  reader.read(Buffer.from(`VALUE ${wireKey} 0 2\r\n17\r\nEND\r\n`));
  return said;
}

/** Half of a surrogate pair crosses the wire as U+FFFD. */
const onWire = (key: string): string => Buffer.from(key).toString();

it('can be read when it may be stored, with any code point in it', () => {
  const unreadable: string[] = [];
  for (let code = 0; code <= LAST_CODE_POINT; code += 1) {
    const key = `a${String.fromCodePoint(code)}`;
    if (faultOfKey(key) !== undefined) continue;
    if (readBack(key).join() !== `${onWire(key)},17,END`) unreadable.push(code.toString(16));
  }
  expect(unreadable).toEqual([]);
});

it('can be read when it may be stored, whatever text it is', () => {
  const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 80 });
  fc.assert(
    fc.property(key, (text) => {
      fc.pre(faultOfKey(text) === undefined);
      expect(readBack(text)).toEqual([onWire(text), '17', 'END']);
    }),
  );
});
