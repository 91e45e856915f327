// Lets a plain Node process or worker thread run our TypeScript: node --require this-file PROGRAM
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

/** What was compiled, by its source: to load the compiler takes longer than most of the programs that run here. */
const CACHE = join(__dirname, '../../.cache/typescript');
const HOW = readFileSync(__filename, 'utf8') + require('typescript/package.json').version;

function compile(source, fileName) {
  const ts = require('typescript');
  const compilerOptions = {
    module: ts.ModuleKind.CommonJS,
    target: ts.ScriptTarget.ES2023,
    esModuleInterop: true,
  };
  return ts.transpileModule(source, { compilerOptions, fileName }).outputText;
}

function compiled(fileName) {
  const source = readFileSync(fileName, 'utf8');
  const name = createHash('sha256').update([HOW, fileName, source].join('\0')).digest('hex');
  const file = join(CACHE, `${name}.js`);
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const text = compile(source, fileName);
    mkdirSync(CACHE, { recursive: true });
    // Others may read it or write the same: they see all of it or nothing.
    const draft = `${file}.${String(process.pid)}-${Math.random().toString(36).slice(2)}`;
    writeFileSync(draft, text);
    renameSync(draft, file);
    return text;
  }
}

require.extensions['.ts'] = (module, fileName) => {
  module._compile(compiled(fileName), fileName);
};
