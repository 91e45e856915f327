import {
  emptyOf,
  readList,
  recordOf,
  refuseType,
  sortOf,
  type Dialect,
  type Field,
} from '../../../src/fields/record';

const heard: string[] = [];
const gathering: Dialect = {
  refuse: (path, reason) => heard.push(`${path} ${reason}`),
  inKnownOrder: true,
  separator: '.',
  show: sortOf,
  noMap: (value) => `is ${sortOf(value)}, expected a map`,
  unknown: (name, known) => `has no field ${name}, expected ${known.join(' or ')}`,
};
const atOnce: Dialect = {
  ...gathering,
  refuse: (path, reason) => {
    throw new Error(`${path}: ${reason}`);
  },
  inKnownOrder: false,
  show: (value) => JSON.stringify(value),
  nameOf: (written) => written.toLowerCase(),
};

const text = (field: Field) =>
  typeof field.value === 'string' ? field.value : refuseType(field, 'a string', '');
const texts = (field: Field) => readList(field, text);
const TABLE = { name: text, tags: texts };
const read = recordOf(TABLE, emptyOf(TABLE, gathering));

const gather = (value: unknown) => {
  heard.length = 0;
  return { record: read({ value, path: 'it', dialect: gathering }), heard: [...heard] };
};

describe('a reader of records', () => {
  it('reads what is missing or null as an empty record has it', () => {
    expect(gather({ tags: null })).toEqual({ record: { name: '', tags: [] }, heard: [] });
    expect(gather([])).toEqual({
      record: { name: '', tags: [] },
      heard: ['it is a list, expected a map'],
    });
  });

  it('gathers mistakes in the order of its table, and unknown fields last', () => {
    expect(gather({ color: 1, tags: ['a', 2, null], name: {} })).toEqual({
      record: { name: '', tags: ['a', '', ''] },
      heard: [
        'it.name is an object, expected a string',
        'it.tags[1] is a number, expected a string',
        'it.tags[2] is null, expected a string',
        'it has no field color, expected name or tags',
      ],
    });
  });

  it.each([
    ['{"TAGS":3,"name":4}', 'TAGS: is 3, expected a list'],
    ['{"x":3,"name":4}', ': has no field x, expected name or tags'],
    ['{"name":"a","NAME":"b"}', ': has the field NAME twice'],
  ])('ends with the first mistake of %s where a dialect throws', (json, message) => {
    const value: unknown = JSON.parse(json);
    expect(() => read({ value, path: '', dialect: atOnce })).toThrow(new Error(message));
  });
});
