import { cleanTags, createPlainNaming } from '../../../src/stats/names';

describe('createPlainNaming', () => {
  it('leaves names alone when there are no tags', () => {
    expect(createPlainNaming()('a.b')).toEqual({ name: 'a.b', suffix: '' });
  });

  it('puts tags behind the name, in the order of their names', () => {
    const naming = createPlainNaming({ zone: 'eu', app: 'shop' });
    expect(naming('a.b')).toEqual({ name: 'a.b.__app=shop.__zone=eu', suffix: '' });
  });

  it.each([
    ['dots of a value', { version: '1.2.3' }, [['version', '1_2_3']]],
    ['what would end a name or a line', { 'a=b.c': 'x:y|z\n' }, [['a_b_c', 'x_y_z_']]],
    ['nothing else', { 'a-b': 'ü x' }, [['a-b', 'ü x']]],
  ])('replaces %s', (_, tags, cleaned) => {
    expect(cleanTags(tags)).toEqual(cleaned);
  });

  it('leaves out a tag without a value', () => {
    expect(createPlainNaming({ empty: '' })('a').name).toBe('a');
  });
});
