/** What a scrape says, read as strictly as Prometheus' own parsers do. */
export interface ParsedScrape {
  /** Values by name and labels as they are written. */
  readonly samples: ReadonlyMap<string, number>;
  /** Types by the name of a family. */
  readonly types: ReadonlyMap<string, string>;
}

const SAMPLE = /^(?<name>[a-zA-Z_:][\w:]*)(?<labels>\{[^\n]*\})? (?<value>\S+)$/;
const LABEL = /^(?<name>[a-zA-Z_]\w*)="(?<value>(?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/;
const NUMBER = /^(?:NaN|[+-]Inf|-?\d+(?:\.\d+)?(?:e[+-]\d+)?)$/;
const COMMENT = /^# (?<what>HELP|TYPE) (?<name>[a-zA-Z_:][\w:]*) (?<text>.*)$/;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  unknown: [''],
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

/** Throws at the first line that a scraper would refuse. */
export function parseExposition(text: string, format: 'text' | 'openmetrics'): ParsedScrape {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no end');
  const lines = text.split('\n').slice(0, -1);
  if (format === 'openmetrics' && lines.pop() !== '# EOF') throw new Error('no # EOF at the end');
  const samples = new Map<string, number>();
  const types = new Map<string, string>();
  let family = '';
  for (const line of lines) {
    if (line.startsWith('#')) family = readComment(line, format, types);
    else readSample(line, family, format, { samples, types });
  }
  checkHistograms(samples, types);
  return { samples, types };
}

function must(holds: boolean, line: string, why: string): void {
  if (!holds) throw new Error(`${why}: ${line}`);
}

/** The family that the line begins or goes on with. */
function readComment(line: string, format: string, types: Map<string, string>): string {
  const { what, name = '', text = '' } = COMMENT.exec(line)?.groups ?? {};
  must(what !== undefined, line, 'no comment that means something');
  must(!types.has(name), line, 'a family comes once, its help before its type');
  if (what !== 'TYPE') return name;
  must(text in SUFFIXES, line, 'no type');
  must(text !== 'unknown' || format !== 'text', line, 'no type of this format');
  types.set(name, text);
  return name;
}

function readSample(
  line: string,
  family: string,
  format: string,
  { samples, types }: { samples: Map<string, number>; types: ReadonlyMap<string, string> },
): void {
  const { name = '', labels = '', value = '' } = SAMPLE.exec(line)?.groups ?? {};
  const type = types.get(family) ?? 'none';
  must(NUMBER.test(value), line, 'no number');
  must(['gauge', 'unknown'].includes(type) || !value.startsWith('-'), line, 'below zero');
  const known = suffixesOf(type, format).map((suffix) => family + suffix);
  must(known.includes(name), line, `no sample of the ${type} ${family}`);
  checkLabels(labels, line);
  must(!samples.has(name + labels), line, 'twice');
  samples.set(name + labels, Number(value.replace('Inf', 'Infinity')));
}

function suffixesOf(type: string, format: string): readonly string[] {
  if (format === 'openmetrics' && type === 'counter') return ['_total'];
  return SUFFIXES[type] ?? [];
}

function checkLabels(labels: string, line: string): void {
  const seen = new Set<string>();
  must(labels !== '{}', line, 'no labels between the braces');
  for (let rest = labels.slice(1, -1); rest !== '';) {
    const found = LABEL.exec(rest);
    const name = found?.groups?.['name'] ?? '';
    must(found !== null && !seen.has(name), line, 'bad labels');
    seen.add(name);
    rest = rest.slice(found?.[0].length);
  }
}

/** Buckets never shrink, and the last one holds all. */
function checkHistograms(
  samples: ReadonlyMap<string, number>,
  types: ReadonlyMap<string, string>,
): void {
  for (const [family] of [...types].filter(([, type]) => type === 'histogram')) {
    const last = new Map<string, number>();
    for (const [key, value] of samples) {
      if (!key.startsWith(`${family}_bucket{`)) continue;
      const series = key.slice(`${family}_bucket`.length).replace(/\ble="[^"]*",|,?le="[^"]*"/, '');
      if (value < (last.get(series) ?? 0)) throw new Error(`${key} is less than the bucket before`);
      last.set(series, value);
    }
    for (const [series, value] of last) {
      const count = samples.get(`${family}_count${series === '{}' ? '' : series}`);
      if (count !== value) throw new Error(`${family}${series}: the last bucket does not hold all`);
    }
  }
}
