import { rememberByName } from '../../../src/stats/names';

function counting(maxBytes?: number) {
  const asked: string[] = [];
  const find = (name: string) => {
    asked.push(name);
    return name === 'none' ? undefined : { name };
  };
  return { asked, remembered: rememberByName(find, maxBytes) };
}

describe('what is remembered by name', () => {
  it('is asked once, also where nothing was found', () => {
    const { asked, remembered } = counting();
    expect(remembered('a')).toBe(remembered('a'));
    expect([remembered('none'), remembered('none')]).toEqual([undefined, undefined]);
    expect(asked).toEqual(['a', 'none']);
  });

  it('starts anew where its bytes are used up, by many names or by long ones', () => {
    const { asked, remembered } = counting(1_000);
    for (const name of ['a', 'b', 'c', 'd', 'a']) remembered(name);
    expect(asked).toEqual(['a', 'b', 'c', 'd']);
    remembered('x'.repeat(150));
    remembered('a');
    expect(asked.slice(4)).toEqual(['x'.repeat(150), 'a']);
  });
});
