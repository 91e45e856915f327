import { acceptedFormat, acceptsGzip } from '../../../../src/stats/prometheus/create-pull-metrics';

describe('acceptedFormat', () => {
  it.each([
    [undefined, 'text'],
    ['', 'text'],
    ['*/*', 'text'],
    ['text/html', 'text'],
    ['application/openmetrics-text', 'openmetrics'],
    ['application/openmetrics-text; version=1.0.0; charset=utf-8', 'openmetrics'],
    ['application/openmetrics-text;version=9.0.0', 'text'],
    ['application/openmetrics-text;q=0.3,text/plain;version=0.0.4;q=0.5', 'text'],
    [
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,' +
        'application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,' +
        'text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
      'openmetrics',
    ],
  ])('answers %s with %s', (accept, format) => {
    expect(acceptedFormat(accept)).toBe(format);
  });
});

describe('acceptsGzip', () => {
  it.each([
    [undefined, false],
    ['identity', false],
    ['gzip', true],
    ['deflate, GZIP;q=0.5', true],
    ['gzip;q=0', false],
    ['gzip;q=0.000', false],
  ])('reads %s as %s', (header, answer) => {
    expect(acceptsGzip(header)).toBe(answer);
  });
});
