import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { folderWith } from '../../platform/package-root';

/** In the order in which they need each other. */
const SCRIPTS = [
  'text.mjs',
  'lines.mjs',
  'sparkline.mjs',
  'explanation.mjs',
  'why.mjs',
  'tiles.mjs',
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

interface Page {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The dashboard as one document: styles and scripts stand in it, and nothing else may run. */
export function createUiPage(): (response: ServerResponse) => void {
  let page: Page | undefined;
  return (response) => {
    page ??= readPage();
    response.writeHead(200, {
      ...page.headers,
      'Content-Length': Buffer.byteLength(page.html),
    });
    response.end(page.html);
  };
}

function readPage(): Page {
  const folder = join(folderWith('ui/index.html'), 'ui');
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const style = STYLES.map(read).join('');
  const script = SCRIPTS.map(read).map(withoutModules).join('');
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
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  };
  return { html, headers };
}

/** Modules of ours, put one after the other into a single script. */
function withoutModules(source: string): string {
  return source.replace(/^import [^;]*;\n/gm, '').replace(/^export /gm, '');
}

function sha256(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
