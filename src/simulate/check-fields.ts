import { MapFileError, type LogMap, type ValueSource } from './map-file';

/** Refuses a map that takes a field which no line of the format has. Throws `MapFileError`. */
export function checkFields({ time, descriptors }: LogMap, known: readonly string[]): void {
  const check = (place: string, field: string) => {
    if (known.includes(field)) return;
    throw new MapFileError(`${place} is "${field}", expected one of ${known.join(', ')}`);
  };
  const headers = known.filter((field) => field.startsWith('http_')).map(toHeader);
  const checkSource = (place: string, source: ValueSource) => {
    if (source.kind === 'field') check(`${place}.field`, source.field);
    if (source.kind === 'masked_address') check(`${place}.masked_address.field`, source.field);
    if (source.kind === 'header' && !headers.includes(source.name)) {
      const expected = `the log has ${headers.join(' and ')} alone`;
      throw new MapFileError(`${place}.header is "${source.name}": ${expected}`);
    }
  };
  check('time.field', time.field);
  descriptors.forEach(({ when, entries }, at) => {
    const place = `descriptors[${String(at)}]`;
    if (when !== undefined) check(`${place}.when.field`, when.field);
    entries.forEach(({ source }, index) => {
      checkSource(`${place}.entries[${String(index)}]`, source);
    });
  });
}

function toHeader(field: string): string {
  return field.slice('http_'.length).replaceAll('_', '-');
}
