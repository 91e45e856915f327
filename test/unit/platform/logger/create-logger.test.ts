import fc from 'fast-check';
import {
  createLogger,
  type LogFields,
  type Logger,
  type LogLevel,
} from '../../../../src/platform/logger';

/** 2026-01-02T03:04:05.006007008Z */
const NOW = BigInt(Date.UTC(2026, 0, 2, 3, 4, 5)) * 1_000_000n + 6_007_008n;
const TIME = 'time="2026-01-02T03:04:05.006007008Z"';

function logging(format: 'text' | 'json', level: LogLevel, use: (logger: Logger) => void): string {
  let written = '';
  const write = (line: string) => {
    written += line;
  };
  use(createLogger({ level, format, write, now: () => NOW }));
  return written;
}

const text = (message: string, fields?: LogFields) =>
  logging('text', 'info', (logger) => {
    logger.info(message, fields);
  });
const json = (message: string, fields?: LogFields) =>
  logging('json', 'info', (logger) => {
    logger.info(message, fields);
  });

describe('the text log', () => {
  it('has the shape of the document, then the fields', () => {
    expect(text('rules loaded', { domains: 2, file: 'config/web.yaml', of: 'a b' })).toBe(
      `${TIME} level=info msg="rules loaded" domains=2 file=config/web.yaml of="a b"\n`,
    );
  });

  it('leaves a simple word bare', () => {
    expect(text('ready')).toBe(`${TIME} level=info msg=ready\n`);
  });

  it('quotes what is empty or could end a value', () => {
    expect(text('', { a: '', b: 'x=y', c: 'say "hi"\\' })).toBe(
      `${TIME} level=info msg="" a="" b="x=y" c="say \\"hi\\"\\\\"\n`,
    );
  });

  it('gives nested fields dotted keys', () => {
    const line = text('m', {
      at: { host: 'h', ports: [1, 2] },
      no: null,
      so: true,
      gone: undefined,
    });
    expect(line).toBe(
      `${TIME} level=info msg=m at.host=h at.ports.0=1 at.ports.1=2 no=null so=true\n`,
    );
  });

  it('writes an error with message, code, stack and cause on one line', () => {
    const cause = Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' });
    const line = text('failed', { error: new Error('no store', { cause }) });
    expect(line).toContain(' error.message="no store" ');
    expect(line).toContain(' error.stack="Error: no store\\n    at ');
    expect(line).toContain(' error.cause.message="connect refused" error.cause.code=ECONNREFUSED ');
    expect(line.indexOf('\n')).toBe(line.length - 1);
  });
});

describe('the JSON log', () => {
  it('has the keys of the document and the fields', () => {
    const line = json('rules loaded', { domains: 2, of: ['a'] });
    expect(line.endsWith('}\n')).toBe(true);
    expect(JSON.parse(line)).toEqual({
      level: 'info',
      '@timestamp': '2026-01-02T03:04:05.006007008Z',
      '@message': 'rules loaded',
      domains: 2,
      of: ['a'],
    });
  });

  it('writes an error as an object', () => {
    const parsed = JSON.parse(json('failed', { error: new TypeError('bad') })) as {
      error: Record<string, unknown>;
    };
    expect(parsed.error['message']).toBe('bad');
    expect(parsed.error['stack']).toContain('TypeError: bad');
  });
});

describe.each(['text', 'json'] as const)('a line of the %s log', (format) => {
  it.each<[LogLevel, string[]]>([
    ['trace', ['debug', 'info', 'warning', 'error']],
    ['debug', ['debug', 'info', 'warning', 'error']],
    ['info', ['info', 'warning', 'error']],
    ['warning', ['warning', 'error']],
    ['error', ['error']],
    ['fatal', []],
  ])('is written at level %s for %j', (level, expected) => {
    const written = logging(format, level, (logger) => {
      logger.debug('m');
      logger.info('m');
      logger.warn('m');
      logger.error('m');
    });
    const levels = [...written.matchAll(/level"?[=:]"?([a-z]+)/g)].map(([, name]) => name);
    expect(levels).toEqual(expected);
  });

  const use = (message: string, fields: LogFields) =>
    logging(format, 'info', (logger) => {
      logger.info(message, fields);
    });

  it('is one line without invisible characters, whatever message and fields hold', () => {
    const anyText = fc.string({ unit: 'binary' });
    const nasty = fc.constantFrom(
      'a\nlevel=error',
      '\r',
      '\0',
      '\x1b[2J',
      '\x7f',
      '\u2028',
      '\u202e',
    );
    const texts = fc.oneof(nasty, anyText);
    fc.assert(
      fc.property(texts, texts, texts, (message, key, value) => {
        const line = use(message, { [key]: value });
        expect(line.endsWith('\n')).toBe(true);
        expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      }),
    );
  });

  it('keeps its own keys when a field has the same name', () => {
    const line = use('m', { level: 'x', '@message': 'y', '@timestamp': 'z', msg: 'u', time: 'v' });
    expect(line.match(/level/g)).toHaveLength(2);
    for (const field of ['fields.level', 'fields.@message', 'fields.msg', 'fields.time']) {
      expect(line).toContain(field);
    }
  });

  it('is written whatever the fields are', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const selfMade = new Error('');
    selfMade.cause = selfMade;
    const broken = Object.defineProperty(new Error('x'), 'stack', {
      get: () => {
        throw new Error('no');
      },
    });
    const refusing = {
      toJSON: () => {
        throw new Error('no');
      },
    };
    const line = use('m', {
      big: 2n ** 64n,
      nested: { big: 1n },
      symbol: Symbol('s'),
      act: () => 1,
      circle,
      selfMade,
      broken,
      refusing,
      day: new Date(0),
    });
    expect(line).toContain('18446744073709551616');
    expect(line).toContain('an error that cannot be read');
    expect(line).toContain('1970-01-01T00:00:00.000Z');
  });
});

it('does not treat a message as a format', () => {
  expect(text('100%d %s %%', { a: 1 })).toContain('msg="100%d %s %%"');
});
