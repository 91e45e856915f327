// The identity client as ES modules, beside its CommonJS files: for browsers, bundlers and `import`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import ts from 'typescript';

const SOURCE = 'src/identity/client';
const TARGET = 'dist/src/identity/client';

/** ES modules name their files in full; the types of the contract are those of the CommonJS build. */
const inFull = (text, type) =>
  text
    .replace(/(from '\.\/[\w-]+)(')/g, `$1.mjs$2`)
    .replace(/(from '\.\.\/contract\/[\w-]+)(')/g, `$1.${type}$2`);

const modules = readdirSync(SOURCE).filter((name) => /\.ts$/.test(name) && name !== 'load-rxjs.ts');
for (const file of modules) {
  const name = file.replace(/\.ts$/, '');
  const { outputText } = ts.transpileModule(readFileSync(`${SOURCE}/${file}`, 'utf8'), {
    fileName: file,
    compilerOptions: { module: ts.ModuleKind.ES2022, target: ts.ScriptTarget.ES2022 },
  });
  writeFileSync(`${TARGET}/${name}.mjs`, inFull(outputText, 'js'));
  writeFileSync(
    `${TARGET}/${name}.d.mts`,
    inFull(readFileSync(`${TARGET}/${name}.d.ts`, 'utf8'), 'js').replace(/\n\/\/# .*\n?$/, '\n'),
  );
}
