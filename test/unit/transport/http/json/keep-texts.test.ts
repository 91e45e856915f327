import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parseRequest } from '../../../../../src/transport/http/json-request';
import { UNBOUNDED } from '../../../../support/bounds';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** One text read out of a body of 100 kB. */
function textOf(written: string): readonly string[] {
  const entry = `{"key":"${written}","value":"${written}"}`;
  const json = `{"domain":"${written}","descriptors":[{"entries":[${entry}]}]}`;
  // As a body comes: a text made of bytes, in one piece.
  const body = Buffer.from(json.padEnd(100_000)).toString();
  const parsed = parseRequest(body, UNBOUNDED);
  if ('kind' in parsed) throw new Error(parsed.message);
  const { domain, descriptors } = parsed;
  const { key = '', value = '' } = descriptors[0]?.entries[0] ?? {};
  return [domain, key, value];
}

describe('a text that outlives its body', () => {
  it.each([
    ['plain letters', 'a-text-of-some-length-'],
    ['letters of two bytes', 'ein-Text-für-später-日-'],
    ['escapes', 'a-text-\\u00e9-with-an-escape-'],
    ['surrogate pairs', '🙂🙂🙂🙂🙂🙂🙂'],
  ])('does not keep it alive: %s', (_, written) => {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const kept = Array.from({ length: 1_000 }, (_unused, i) => textOf(written + String(i)));
    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
    expect(new Set(kept.flat()).size).toBe(1_000);
  });
});
