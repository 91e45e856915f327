import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Steps } from '../../core/steps';
import { folderWith } from '../../platform/package';

/** In the order of their dependencies. */
const SCRIPTS = [
  'text.mjs',
  'lines.mjs',
  'sparkline.mjs',
  'explanation.mjs',
  'why.mjs',
  'tiles.mjs',
  'last-seconds.mjs',
  'callers.mjs',
  'banner.mjs',
  'hot-keys.mjs',
  'unmatched.mjs',
  'facts.mjs',
  'workers.mjs',
  'rule-rows.mjs',
  'rules.mjs',
  'main.mjs',
];
const STYLES = ['base.css', 'parts.css', 'rules.css', 'why.css'];

export interface UiPage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The dashboard as one document: it contains its styles and scripts, and nothing else may run. It is read once. */
export function createUiPage(): () => Steps<UiPage> {
  let page: UiPage | undefined;
  return function* () {
    page ??= yield* readPage();
    return page;
  };
}

function* readPage(): Steps<UiPage> {
  const folder = join(folderWith('ui/index.html'), 'ui');
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const style = STYLES.map(read).join('');
  let script = '';
  for (const file of SCRIPTS) {
    script += withoutModules(read(file));
    yield;
  }
  const html = read('index.html')
    .replace('<!-- style -->', () => `<style>${style}</style>`)
    .replace('<!-- script -->', () => `<script type="module">${script}</script>`);
  const policy = [
    "default-src 'none'",
    `script-src ${sha256(script)}`,
    `style-src ${sha256(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const headers = {
    'Content-Security-Policy': policy,
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  };
  return { html, headers };
}

/** Our modules, concatenated into a single script. */
function withoutModules(source: string): string {
  return source.replace(/^import [^;]*;\n/gm, '').replace(/^export /gm, '');
}

function sha256(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Lines of the debug port's front page; `docs/endpoints.md` has the details. */
export const INDEX_PAGE = [
  ['/', 'this list'],
  ['/ui', 'a page to look at: rules, traffic, hot keys and the store, live'],
  ['/rlconfig', 'the rules that are in force, one line for each limit'],
  ['/stats', 'all statistics as text; ?format=json for JSON'],
  ['/schema', 'the JSON schema of rule files, for editors'],
  ['/api/v1/', 'the operator API: explain, counters, rules, hot, limited, version (ADMIN_API)'],
  ['/debug/pprof/', 'profiles of this process, for `go tool pprof`'],
]
  .map(([path = '', about = '']) => `${path}: ${about}\n`)
  .join('');

const PPROF_PAGE = [
  ['/debug/pprof/profile?seconds=30', 'CPU profile over so many seconds (1 to 60)'],
  ['/debug/pprof/heap?seconds=10', 'allocations of so many seconds that are still alive'],
  ['&gc=1', 'heap only: collect garbage first (stops the service for a moment)'],
  ['&format=v8', "V8's own JSON, for Chrome's developer tools and speedscope"],
]
  .map(([path = '', about = '']) => `${path}: ${about}\n`)
  .join('');

/** `workers`: number of other processes to profile. */
export function pprofPage(workers = 0): string {
  const lines = Array.from({ length: workers }, (_, i) => {
    const worker = String(i + 1);
    return `&worker=${worker}: of worker ${worker} instead of the owner\n`;
  });
  return [PPROF_PAGE, ...lines].join('');
}
