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
