import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingsHelp } from '../../../src/settings/settings-help';
import { SUBJECTS } from '../../../src/settings/tables';

const names = SUBJECTS.flatMap(({ settings }) =>
  settings.flatMap(({ name, aliases }) => [name, ...aliases]),
);

const ROOT = join(__dirname, '../../..');

describe('the settings page', () => {
  const page = readFileSync(join(ROOT, 'docs/settings.md'), 'utf8');

  it('holds every name', () => {
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('shows names, default, values and meaning in a row', () => {
    expect(page).toMatch(
      /^\| `KVSTORE_TIMEOUT` \(`REDIS_TIMEOUT`\) +\| `10s` +\| duration from 1ms to 576h +\| longest time for .* \|$/m,
    );
  });

  it.each([
    ['CONFIG_TYPE', '`FILE`, `GRPC_XDS_SOTW`, `GRPC_XDS_DELTA`'],
    ['MAX_DESCRIPTORS', 'whole number from 1 to 100000'],
    ['GRPC_REFLECTION', 'true or false'],
    ['RUNTIME_ROOT', 'path'],
  ])('shows what may be typed for %s', (name, values) => {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\``));
    expect(row?.split('|').map((cell) => cell.trim())[3]).toBe(values);
  });

  it('has values for every setting', () => {
    const rows = page.split('\n').filter((line) => /^\| `[A-Z]/.test(line));
    expect(rows.length).toBeGreaterThan(150);
    expect(rows.filter((row) => row.split('|')[3]?.trim() === '')).toEqual([]);
  });
});

describe('the help', () => {
  it('holds every name', () => {
    const help = settingsHelp('ratelimit') + settingsHelp('identity');
    expect(names.filter((name) => !help.includes(name))).toEqual([]);
  });

  it('is that of one service, and begins with what most operators need', () => {
    const help = settingsHelp('ratelimit');
    expect(help).not.toContain('IDENTITY_');
    expect(settingsHelp('identity')).toContain('IDENTITY_PORT');
    expect(settingsHelp('identity')).not.toContain('\n  GRPC_PORT');
    const places = ['RUNTIME_ROOT', 'KVSTORE_URL', 'STATSD_HOST', 'OTEL_'].map((name) =>
      help.indexOf(`\n  ${name}`),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it('fits into 100 columns', () => {
    expect(
      settingsHelp('ratelimit')
        .split('\n')
        .filter((line) => line.length > 100),
    ).toEqual([]);
  });

  it('shows names, values, meaning and default', () => {
    const help = settingsHelp('ratelimit');
    expect(help).toMatch(
      /^ {2}KVSTORE_TIMEOUT \(REDIS_TIMEOUT\) +duration from 1ms to 576h\n {6}longest time for .* \[10s\]$/m,
    );
    expect(help).toMatch(/^ {2}CONFIG_TYPE +FILE, GRPC_XDS_SOTW, GRPC_XDS_DELTA$/m);
    expect(help).toMatch(
      /^ {2}LOG_LEVEL\n {6}trace, debug, info, warning, warn, error, fatal, panic\n/m,
    );
  });

  it('says what is empty, secret, deprecated or not built', () => {
    const help = settingsHelp('ratelimit');
    expect(help).toContain('prefix of every counter key [empty]');
    expect(help).toContain('<PASSWORD> or <USERNAME>:<PASSWORD>; secret [none]');
    expect(help).toContain('deprecated: no effect [0]');
  });
});
